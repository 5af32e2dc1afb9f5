"""Finding SOPs in a workspace: names lead nowhere else, and links are not followed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coilclaw.agent.sop import NoSuchSop, read_sop_file, sop_names


def sop(workspace: Path, name: str, text: str = "name") -> Path:
    file = workspace / "sops" / name / "SOP.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


@pytest.mark.req("R434")
def test_a_sop_is_read_from_its_folder_in_the_workspace(tmp_path: Path) -> None:
    sop(tmp_path, "daily-check", "text")
    sop(tmp_path, "a_2")
    sop(tmp_path, ".hidden")
    assert sop_names(tmp_path) == ["a_2", "daily-check"]
    assert read_sop_file(tmp_path, "daily-check") == b"text"


def test_a_workspace_without_sops_has_none(tmp_path: Path) -> None:
    assert sop_names(tmp_path) == []
    with pytest.raises(NoSuchSop, match="there is no sops/x"):
        read_sop_file(tmp_path, "x")


@pytest.mark.parametrize("name", ["..", ".", "", "../x", "a/b", "a\0b", "/etc", "~", "a" * 65, "a\n", "\ud800", "ä"])
def test_a_name_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "SOP.toml").write_text("outside")
    sop(tmp_path / "ws", "x")
    with pytest.raises(NoSuchSop, match="cannot be the name"):
        read_sop_file(tmp_path / "ws", name)


@pytest.mark.parametrize("linked", ["sops", "sops/x", "sops/x/SOP.toml"])
def test_links_are_not_followed(tmp_path: Path, linked: str) -> None:
    sop(tmp_path / "outside", "x", "outside")
    place = tmp_path / "ws" / linked
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / "outside" / linked)
    with pytest.raises(NoSuchSop, match="links are not followed"):
        read_sop_file(tmp_path / "ws", "x")
    assert sop_names(tmp_path / "ws") == (["x"] if linked.endswith("toml") else [])


def test_only_an_ordinary_file_of_a_bounded_size_is_read(tmp_path: Path) -> None:
    sop(tmp_path, "giant", "x" * 70_000)
    (tmp_path / "sops/pipe").mkdir()
    os.mkfifo(tmp_path / "sops/pipe/SOP.toml")
    (tmp_path / "sops/folder/SOP.toml").mkdir(parents=True)
    for name, reason in (("giant", "at most 65536"), ("pipe", "ordinary"), ("folder", "ordinary")):
        with pytest.raises(NoSuchSop, match=reason):
            read_sop_file(tmp_path, name)
