"""The configuration: defaults, sources, expansion, and all its errors at once."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from coilclaw.config import ConfigError, Settings, config_text, load_settings
from coilclaw.sandbox.restricted import LAYERS


def load(home: Path, text: str | None = None, **environment: str) -> Settings:
    home.mkdir(exist_ok=True)
    if text is not None:
        (home / "config.toml").write_text(text)
    return load_settings({"COILCLAW_HOME": str(home), "HOME": str(home), **environment})


@pytest.mark.req("R275", "R278", "R289", "R346")
def test_defaults_hold_without_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    config = load(tmp_path / "home").config
    assert config.workspace_dir == tmp_path / "coilclaw-workspace"
    assert config.security.autonomy == "supervised"
    assert config.receipts.path == tmp_path / "home/coilclaw.db"
    assert config.limits.tool_seconds == 30


@pytest.mark.req("R290")
def test_tilde_and_variables_are_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = load(tmp_path / "home", 'workspace_dir = "~/x/${PLACE}/$OTHER"', PLACE="here", OTHER="there")
    assert settings.config.workspace_dir == tmp_path / "x/here/there"


def test_a_response_has_to_fit_into_what_is_kept(tmp_path: Path) -> None:
    sizes = "[limits]\nkept_bytes = 4194304\nresponse_bytes = {}"
    with pytest.raises(
        ConfigError, match=r"(?s)limits.response_bytes.*2097152.*raise `kept_bytes` to at least 4194306"
    ):
        load(tmp_path / "home", sizes.format(2097153))
    assert load(tmp_path / "home", sizes.format(2097152)).config.limits.response_bytes == 2097152


def test_an_unset_variable_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="workspace_dir: the environment variable NOT_SET is not set"):
        load(tmp_path / "home", 'workspace_dir = "${NOT_SET}/x"')


@pytest.mark.req("R291", "R296", "R482")
def test_all_errors_are_reported_in_one_pass(tmp_path: Path) -> None:
    text = """
workspace = "x"
[security]
autonomy = "godmode"
[limits]
seconds = -1
memory_mib = "lots"
[[policy.rules]]
tool = "files.*"
decision = "perhaps"
[recipts]
enabled = true
"""
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "home", text)
    problems = "\n".join(caught.value.problems)
    assert "workspace: unknown key; did you mean 'workspace_dir'?" in problems
    assert "security.autonomy: this value is not allowed; use 'readonly', 'supervised' or 'full'" in problems
    assert "limits.seconds" in problems
    assert "limits.memory_mib" in problems
    assert "policy.rules.0.decision: this value is not allowed; use 'allow', 'ask' or 'deny'" in problems
    assert "recipts: unknown key; did you mean 'receipts'?" in problems
    assert len(caught.value.problems) == 6


def test_the_layers_of_the_restricted_engine_are_known_by_name(tmp_path: Path) -> None:
    text = '[sandbox]\nengine = "restricted"\n[sandbox.restricted]\nrequire = ["seccomp", "user"]\noff = ["landlock"]'
    sandbox = load(tmp_path / "home", text).config.sandbox
    assert sandbox.engine == "restricted"
    assert sandbox.restricted.require == ("seccomp", "user")
    assert sandbox.restricted.off == ("landlock",)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "home", '[sandbox.restricted]\nrequire = ["apparmor"]\noff = ["selinux"]')
    for problem, key in zip(caught.value.problems, ("require", "off"), strict=True):
        assert problem.startswith(f"sandbox.restricted.{key}.0: ")
        for layer in LAYERS:
            assert f"'{layer}'" in problem


def test_a_layer_is_not_both_required_and_off(tmp_path: Path) -> None:
    text = '[sandbox.restricted]\nrequire = ["seccomp", "landlock", "user"]\noff = ["landlock", "user", "rlimits"]'
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "home", text)
    (problem,) = caught.value.problems
    assert problem.startswith("sandbox.restricted.off: must name layers that `require` does not (landlock, user)")


@pytest.mark.parametrize("key", ["security.workspace_only", "security.audit_log", "receipts.enabled"])
def test_what_the_product_does_not_work_without_cannot_be_turned_off(tmp_path: Path, key: str) -> None:
    section, name = key.split(".")
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "home", f"[{section}]\n{name} = false")
    assert caught.value.problems == [f"{key}: CoilClaw does not work without this; leave the key out, or write true"]


@pytest.mark.parametrize("text", ["a = ", "\x00", "[security\n"])
def test_a_file_that_is_not_toml_is_one_clear_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="not TOML"):
        load(tmp_path / "home", text)


@pytest.mark.req("R295")
def test_values_of_unknown_keys_are_not_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "home", 'api_key = "s3cret"\n[security]\ntoken = "s3cret"')
    assert "s3cret" not in str(caught.value)


def test_each_value_names_its_source(tmp_path: Path) -> None:
    settings = load(tmp_path / "home", "[limits]\nseconds = 5.0", COILCLAW_AUTONOMY="full")
    rows = {key: (value, source) for key, value, source in settings.rows()}
    assert rows["limits.seconds"] == (5.0, "config.toml")
    assert rows["security.autonomy"] == ("full", "COILCLAW_AUTONOMY")
    assert rows["limits.calls"] == (1000, "default")


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="COILCLAW_AUTONOMY"):
        load(tmp_path / "home", COILCLAW_AUTONOMY="reckless")


def test_the_written_configuration_is_valid_and_documents_every_key(tmp_path: Path) -> None:
    odd = tmp_path / 'odd "name" \\ $HERE'
    text = config_text(odd)
    settings = load(tmp_path / "home", text)
    assert settings.config.workspace_dir == odd
    assert '\nautonomy = "supervised"\n' in text
    assert all(layer in text for layer in LAYERS)
    documented = "\n".join(line.removeprefix("# ") for line in text.splitlines())
    for key, _, _ in settings.rows():
        name = key.rsplit(".", 1)[-1]
        if name != "rules":
            assert f"{name} = " in documented
    uncommented = [
        line.removeprefix("# ") if " = " in line or line.startswith("# [") else line for line in text.splitlines()[3:]
    ]
    tomllib.loads("\n".join(line for line in uncommented if not line.startswith("# ")))


@pytest.mark.parametrize(
    "entry",
    ["", " ", ":99999", "127.0.0.1:99999", "127.0.0.1:0", "http://127.0.0.1:1/", "user@host", "*", "*.127.0.0.1",
     "10.0.0.0/0", "0.0.0.0/0", "::/0", "10.0.0.1/8", "10.0.0.0/33", "8.0.0.0/8", "0.0.0.0/1", "10.0.0.0/7",
     "10.0.0.0/8:80", "host/24", "/", "fc00::/6", "fd00::1/64", "a b", "exa_mple..org"],
)  # fmt: skip
def test_a_private_place_that_is_none_is_refused_with_what_is_expected(tmp_path: Path, entry: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "home", f'[security]\nhttp_private = ["127.0.0.1", "{entry}"]')
    (problem,) = caught.value.problems
    assert problem.startswith("security.http_private.1: must be a host, host:port or private network")


@pytest.mark.parametrize(
    "entry",
    ["127.0.0.1", "127.0.0.1:8080", "nas.local", "*.internal.example", "localhost:5000", "10.1.0.0/16", "10.0.0.0/8",
     "127.0.0.0/8", "192.168.1.7/32", "169.254.169.254", "[::1]:80", "fd00::/8", "100.64.0.0/10"],
)  # fmt: skip
def test_a_private_place_is_accepted(tmp_path: Path, entry: str) -> None:
    config = load(tmp_path / "home", f'[security]\nhttp_private = ["{entry}"]').config
    assert config.security.http_private == (entry,)


@pytest.mark.parametrize("entry", ["", "https://example.org", "example.org/path", ":80", "example.org:0", "a b", "@"])
def test_a_domain_that_is_none_is_refused_with_what_is_expected(tmp_path: Path, entry: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "home", f'[security]\nhttp_domains = ["{entry}", "example.org"]')
    (problem,) = caught.value.problems
    assert problem.startswith("security.http_domains.0: must be a domain")


@pytest.mark.req("R296")
def test_every_wrong_entry_of_a_list_is_reported_beside_one_of_the_wrong_type(tmp_path: Path) -> None:
    entries = '["8.8.8.8", "0.0.0.0/0", "http://localhost:8080", "localhost:99999", 5]'
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "home", f"[security]\nhttp_private = {entries}")
    places = [problem.partition(":")[0] for problem in caught.value.problems]
    assert places == [f"security.http_private.{number}" for number in range(5)]


@pytest.mark.parametrize("entry", ["8.8.8.8", "8.8.8.8:53", "8.8.8.8/32", "[2606:4700::1]:443"])
def test_a_public_address_is_no_private_place(tmp_path: Path, entry: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "home", f'[security]\nhttp_private = ["{entry}"]')
    assert "this address is public; http_domains is the list" in caught.value.problems[0]


@pytest.mark.parametrize("entry", ["*.org", "*.com:443"])
def test_a_whole_top_level_domain_is_refused(tmp_path: Path, entry: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "home", f'[security]\nhttp_domains = ["{entry}"]')
    assert "a whole top-level domain is more than anybody means" in caught.value.problems[0]


@pytest.mark.parametrize("entry", ["sed -i", "", "/bin/ls", "a\\tb"])
def test_an_allowed_program_that_no_command_can_name_is_refused(tmp_path: Path, entry: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "home", f'[security]\nshell_allow = ["ls", "{entry}"]')
    (problem,) = caught.value.problems
    assert problem.startswith("security.shell_allow.1: must be the name of one program")


@pytest.mark.parametrize(
    "text",
    ['workspace_dir = "$NOPE/x"', 'workspace_dir = "$NOPE"', '[security]\nforbidden_paths = ["$NOPE"]',
     '[security]\nhttp_domains = ["$NOPE"]', '[receipts]\npath = "${NOPE}"'],
)  # fmt: skip
def test_a_variable_that_is_not_set_is_the_only_problem_of_its_value(tmp_path: Path, text: str) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home/config.toml").write_text(text)
    (tmp_path / "work").mkdir()
    environment = {"COILCLAW_HOME": str(tmp_path / "home")}
    if "workspace_dir" not in text:
        environment["COILCLAW_WORKSPACE"] = str(tmp_path / "work")
    with pytest.raises(ConfigError) as caught:
        load_settings(environment, workspace_exists=True)
    (problem,) = caught.value.problems
    assert problem.endswith("the environment variable NOPE is not set")


@pytest.mark.parametrize("key", ["api_key_env", "profile", "api_key"])
def test_a_key_that_stands_where_its_name_belongs_is_refused_and_not_repeated(tmp_path: Path, key: str) -> None:
    pasted = "sk-live-ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    table = f'[providers.models.x]\nkind = "anthropic"\n{key} = "{"env:" if key == "api_key" else ""}{pasted}"'
    with pytest.raises(ConfigError, match=f"providers.models.x.{key}: must be ") as caught:
        load(tmp_path / "home", table)
    assert pasted not in f"{caught.value} {caught.value.hint}"
