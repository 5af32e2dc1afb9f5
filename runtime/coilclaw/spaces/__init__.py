"""Spaces: the containers of work that the API calls projects, each with a name and a folder of files."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.spaces.errors import (
        BadSpace,
        FileChanged,
        FileTooLarge,
        NoSuchFile,
        NoSuchSpace,
        PathRefused,
        SpaceArchived,
    )
    from coilclaw.spaces.files import FileContent, FileEntry, FileListing, SpaceFiles, WrittenFile
    from coilclaw.spaces.paths import RESERVED
    from coilclaw.spaces.spaces import Space, SpacePage, Spaces, create_space_tables
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "errors": "BadSpace FileChanged FileTooLarge NoSuchFile NoSuchSpace PathRefused SpaceArchived",
            "files": "FileContent FileEntry FileListing SpaceFiles WrittenFile",
            "paths": "RESERVED",
            "spaces": "Space SpacePage Spaces create_space_tables",
        },
    )

__all__ = [
    "RESERVED",
    "BadSpace",
    "FileChanged",
    "FileContent",
    "FileEntry",
    "FileListing",
    "FileTooLarge",
    "NoSuchFile",
    "NoSuchSpace",
    "PathRefused",
    "Space",
    "SpaceArchived",
    "SpaceFiles",
    "SpacePage",
    "Spaces",
    "WrittenFile",
    "create_space_tables",
]
