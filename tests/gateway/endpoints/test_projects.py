"""Projects and their files over a real server; hostile paths are tried as they arrive on the wire."""

from __future__ import annotations

import base64
import os
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.gateway.endpoints.conftest import ApiServer


@pytest.fixture
def project(server: ApiServer) -> str:
    made: str = server.post("/api/projects", {"name": "demo", "skill": "live-artifact"}, 201)["id"]
    return made


def put(server: ApiServer, project: str, path: str, content: str, **headers: str) -> httpx.Response:
    return server.http.put(f"/api/projects/{project}/files/{path}", json={"content": content}, headers=headers)


def folder(server: ApiServer, project: str) -> Path:
    return server.home / "data" / "projects" / project


@pytest.mark.req("R773")
def test_projects_are_made_listed_renamed_and_archived(server: ApiServer, project: str) -> None:
    assert project in [each["id"] for each in server.get("/api/projects")["projects"]]
    changed = server.http.patch(f"/api/projects/{project}", json={"name": "other", "archived": True}).json()
    assert (changed["name"], changed["archived_at"] is None) == ("other", False)
    assert project not in [each["id"] for each in server.get("/api/projects")["projects"]]
    assert project in [each["id"] for each in server.get("/api/projects", archived="true")["projects"]]
    assert put(server, project, "a.txt", "x").status_code == 409
    assert server.post("/api/runs", {"code": "1", "project": project}, 409)["error"]["code"] == "project_archived"


def test_a_file_is_written_read_listed_and_removed(server: ApiServer, project: str) -> None:
    assert put(server, project, "notes/ä b.txt", "hällo\n").json()["created"] is True
    read = server.http.get(f"/api/projects/{project}/files/notes/ä b.txt")
    assert read.json()["content"] == "hällo\n"
    assert read.headers["etag"] == f'"{read.json()["version"]}"'
    data = base64.b64encode(b"\x00\xff").decode()
    written = server.http.put(f"/api/projects/{project}/files/b.bin", json={"content": data, "encoding": "base64"})
    assert written.status_code == 200
    assert server.get(f"/api/projects/{project}/files/b.bin")["content"] == data
    assert [each["path"] for each in server.get(f"/api/projects/{project}/files")["files"]] == [
        "b.bin",
        "notes/ä b.txt",
    ]
    server.delete(f"/api/projects/{project}/files/b.bin")
    server.delete(f"/api/projects/{project}/files/b.bin", 404)


def test_of_two_changes_to_one_version_one_is_refused(server: ApiServer, project: str) -> None:
    version = put(server, project, "n.txt", "0").headers["etag"]
    found: list[int] = []

    def change(text: str) -> None:
        found.append(put(server, project, "n.txt", text, **{"If-Match": version}).status_code)

    threads = [threading.Thread(target=change, args=(str(number),)) for number in range(1, 5)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert sorted(found) == [200, 412, 412, 412]
    assert put(server, project, "n.txt", "x", **{"If-None-Match": "*"}).status_code == 412


def test_a_star_as_the_version_to_replace_writes_nothing(server: ApiServer, project: str) -> None:
    # Elsewhere it means "whatever is there": taken as "nothing is there", it would make the file.
    assert put(server, project, "star.txt", "x", **{"If-Match": "*"}).status_code == 400
    server.get(f"/api/projects/{project}/files/star.txt", 404)


@pytest.mark.parametrize(
    "path",
    [
        "..%2f..%2f..%2fcoilclaw.db",
        "%2e%2e/%2e%2e/%2e%2e/coilclaw.db",
        "a/..%2f..%2fx",
        "%2fetc%2fpasswd",
        "a%00b",
        "a%0ab",
        "a%5c..%5cb",
        ".live-artifacts/x",
        ".Live-Artifacts/x",
        ".live-artifacts./x",
        "sub/.git/config",
        "tools/x/tools.py",
        "a//b",
        "%20%2f..%2fx",
        "x" * 300,
        "/".join("a" * 40),
        "link/secret.txt",
        "linked.txt",
        "pipe",
    ],
)
@pytest.mark.req("R588", "R832")
def test_a_path_leads_nowhere_but_into_the_project(server: ApiServer, project: str, path: str) -> None:
    outside = server.home.parent / f"outside-{project}"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (folder(server, project) / "link").symlink_to(outside)
    (folder(server, project) / "linked.txt").symlink_to(outside / "secret.txt")
    os.mkfifo(folder(server, project) / "pipe")
    for method, body in (("GET", None), ("PUT", {"content": "x"}), ("DELETE", None)):
        answer = server.http.request(method, f"{server.url}/api/projects/{project}/files/{path}", json=body)
        assert answer.status_code in (400, 404, 405), (method, answer.text)
        assert "secret" not in answer.text.replace("secret.txt", "")
    assert (outside / "secret.txt").read_text() == "secret"
    assert server.get(f"/api/projects/{project}/files")["files"] == []


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "a\x00", "\u202eevil", "x" * 201])
def test_a_hostile_name_is_no_name(server: ApiServer, name: str) -> None:
    server.post("/api/projects", {"name": name}, 400)


@pytest.mark.parametrize("wrong", ["space-0", "..", "%2e%2e", "space-000000000000000000000"])
@pytest.mark.req("R831")
def test_an_unknown_project_is_not_found(server: ApiServer, wrong: str) -> None:
    for path in (f"/api/projects/{wrong}/files", f"/api/projects/{wrong}/conversation"):
        assert server.http.get(path).status_code == 404
    server.post("/api/conversations", {"project": wrong}, 404)
    before: Any = server.get("/api/runs")["runs"]
    server.post("/api/runs", {"code": "1", "project": wrong, "wait": True}, 404)
    assert server.get("/api/runs")["runs"] == before


def test_a_run_of_a_project_writes_into_its_folder(server: ApiServer, project: str) -> None:
    report = server.run("tools.notes.add(text='hi').unwrap()", project=project)
    assert report["status"] == "suspended"
    approval = report["approvals"][0]["id"]
    server.post(f"/api/approvals/{approval}/decision", {"decision": "allow-once"})
    assert server.ended(report["run_id"])["status"] == "completed"
    assert server.get(f"/api/projects/{project}/files/notes.txt")["content"] == "hi\n"
    assert not (server.workspace / "notes.txt").exists()
