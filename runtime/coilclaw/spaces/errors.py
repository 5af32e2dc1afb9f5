"""Errors of spaces and their files. Their codes say `project`, as the API does.

OperatorError
├── NoSuchSpace       there is no space of this id
├── SpaceArchived     a space that takes no more changes until it is restored
├── BadSpace          a name or a skill that no space can have
├── NoSuchFile        there is no file of this path in the space
├── PathRefused       a path that is no file of a space, or leads out of it
├── FileTooLarge      a file that is larger than one request may carry
└── FileChanged       a file is not in the version that the request was made for
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["BadSpace", "FileChanged", "FileTooLarge", "NoSuchFile", "NoSuchSpace", "PathRefused", "SpaceArchived"]


class NoSuchSpace(OperatorError):
    """There is no space of this id."""

    code = "no_such_project"

    def __init__(self, space_id: str) -> None:
        super().__init__(f"there is no project {space_id[:100]!r}", hint="`GET /api/projects` lists them")


class SpaceArchived(OperatorError):
    """An archived space is kept as it is; a person can restore it."""

    code = "project_archived"

    def __init__(self, space_id: str) -> None:
        super().__init__(
            f"the project {space_id} is archived",
            hint='`PATCH /api/projects/{id}` with {"archived": false} restores it',
        )


class BadSpace(OperatorError):
    """A name or a skill that no space can have."""

    code = "bad_project"


class NoSuchFile(OperatorError):
    """There is no file of this path in the space."""

    code = "no_such_file"

    def __init__(self, path: str) -> None:
        super().__init__(f"there is no file {path[:200]!r} in this project", hint="list the project's files")


class PathRefused(OperatorError):
    """A path that leads out of the space, through a link, or to what only the runtime may touch."""

    code = "path_refused"


class FileTooLarge(OperatorError):
    """A file, or a space full of them, beyond what is kept."""

    code = "file_too_large"


class FileChanged(OperatorError):
    """Somebody changed the file since the version that the request names."""

    code = "file_changed"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path[:200]!r} is not in the version that this request was made for",
            hint="read it again, and send the change with its present version",
        )
