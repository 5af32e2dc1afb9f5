"""Encrypted connections: whom they trust, and which name they check."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.conftest import Answer, Loopback, serving
from tests.net.conftest import Names

from coilclaw.net.hosts import make_reach
from coilclaw.net.transport import async_client, sync_client
from coilclaw.sdk import Bounds, ToolFailure


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for `a.test`, and its key."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a.test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName("a.test"), x509.IPAddress(IPv4Address("127.0.0.9"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "a.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return file


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_certificates_are_checked_by_name(certificate: Path, kind: str) -> None:
    names: list[str | None] = []
    serving_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving_tls.load_cert_chain(certificate)
    serving_tls.sni_callback = lambda sock, name, context: names.append(name)
    trusting = ssl.create_default_context(cafile=certificate)

    def fetch(server: Loopback, host: str, tls: ssl.SSLContext | None, **options: Any) -> str:
        reach = make_reach(("*",), Bounds(http_private=("127.0.0.1",)), {})
        resolve = Names(a_test=["127.0.0.1"], b_test=["127.0.0.1"])
        url = f"https://{host}:{server.port}/"
        if kind == "plain":
            with sync_client(reach, lambda: 5.0, resolve, tls) as client:
                return client.get(url, **options).text

        async def run() -> str:
            async with async_client(reach, lambda: 5.0, resolve, tls) as client:
                return (await client.get(url, **options)).text

        return asyncio.run(run())

    with serving(serving_tls) as server:
        server.answers["/"] = Answer(body=b"secret")
        assert fetch(server, "a.test", trusting) == "secret"
        assert fetch(server, "A.TEST.", trusting) == "secret"
        assert names == ["a.test", "a.test"]
        attempts: list[tuple[str, ssl.SSLContext | None, dict[str, Any]]] = [
            ("b.test", trusting, {}),
            ("b.test", trusting, {"extensions": {"sni_hostname": "a.test"}}),
            ("127.0.0.1", trusting, {}),
            ("a.test", None, {}),
        ]
        for host, tls, options in attempts:
            with pytest.raises(ToolFailure) as caught:
                fetch(server, host, tls, **options)
            assert caught.value.code == "tls_failed"
        assert len(server.seen) == 2
