"""`/api/projects`: projects, their files, and the conversation that each has by itself."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from coilclaw.gateway.chat.chat import CHANNEL
from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.endpoints.conversations import ConversationFacts
from coilclaw.gateway.endpoints.shapes import Page
from coilclaw.gateway.errors import ApiError
from coilclaw.gateway.principal import Scope

__all__ = ["PROJECTS"]

_LARGEST_BODY: Final = 12 * 1024 * 1024


class NewProject(BaseModel):
    """A project to make."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=200)]
    skill: Annotated[str, Field(max_length=64)] | None = None
    """The skill that its work begins with."""


class ProjectChange(BaseModel):
    """What to change about a project."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    archived: bool | None = None


class ProjectFilter(Page):
    """Which projects to list."""

    archived: Literal["true", "false"] = "false"


class ProjectFacts(BaseModel):
    """A project."""

    id: str
    name: str
    skill: str | None
    created_at: str
    archived_at: str | None


class ProjectList(BaseModel):
    """Projects, newest first."""

    projects: list[ProjectFacts]
    cursor: str | None


class FileFacts(BaseModel):
    """A file in a list."""

    path: str
    size: int
    modified_at: str


class FileList(BaseModel):
    """The files of a project, by path."""

    files: list[FileFacts]
    truncated: bool


class FileBody(BaseModel):
    """The content of a file to write."""

    model_config = ConfigDict(extra="forbid")

    content: str
    encoding: Literal["text", "base64"] = "text"


class FileText(BaseModel):
    """A file: its text, or its bytes in base64."""

    path: str
    content: str
    encoding: Literal["text", "base64"]
    size: int
    version: str
    """For `If-Match`, so that nobody's change is lost."""


class FileWritten(BaseModel):
    """A file that was written."""

    path: str
    size: int
    version: str
    created: bool


class FileDeleted(BaseModel):
    """A file that was removed."""

    path: str
    deleted: Literal[True] = True


async def _create(call: ApiCall[NewProject, NoQuery]) -> dict[str, Any]:
    claw = call.gateway.claw
    made = await call.gateway.blocking(claw.spaces.create, call.body.name, skill=call.body.skill)
    await _record(call, "project.created", made.id)
    return made.facts()


async def _list(call: ApiCall[NoBody, ProjectFilter]) -> dict[str, Any]:
    query = call.query
    page = await call.gateway.blocking(
        call.gateway.claw.spaces.list, archived=query.archived == "true", limit=query.limit, cursor=query.cursor
    )
    return {"projects": [each.facts() for each in page], "cursor": page.cursor}


async def _show(call: ApiCall[NoBody, NoQuery]) -> dict[str, Any]:
    return (await call.gateway.blocking(call.gateway.claw.spaces.get, call.path["project_id"])).facts()


async def _change(call: ApiCall[ProjectChange, NoQuery]) -> dict[str, Any]:
    body, project = call.body, call.path["project_id"]
    changed = await call.gateway.blocking(
        call.gateway.claw.spaces.change, project, name=body.name, archived=body.archived
    )
    await _record(call, "project.changed", project)
    return changed.facts()


async def _conversation(call: ApiCall[NoBody, NoQuery]) -> ConversationFacts:
    claw, project = call.gateway.claw, call.path["project_id"]
    await call.gateway.blocking(claw.spaces.get, project)
    found = await call.gateway.blocking(claw.memory.ambient, CHANNEL, project=project)
    return ConversationFacts.of(await call.gateway.blocking(claw.memory.show, found))


async def _files(call: ApiCall[NoBody, NoQuery]) -> dict[str, Any]:
    listing = await call.gateway.blocking(lambda: call.gateway.claw.spaces.files(call.path["project_id"]).list())
    return {"files": [vars(each) for each in listing.entries], "truncated": listing.truncated}


async def _read(call: ApiCall[NoBody, NoQuery]) -> Response:
    path = call.path["path"]
    found = await call.gateway.blocking(lambda: call.gateway.claw.spaces.files(call.path["project_id"]).read(path))
    try:
        content, encoding = found.data.decode("utf-8"), "text"
    except UnicodeDecodeError:
        content, encoding = base64.b64encode(found.data).decode(), "base64"
    facts = {"path": path, "content": content, "encoding": encoding, "size": len(found.data), "version": found.version}
    return JSONResponse(facts, headers={"ETag": f'"{found.version}"'})


async def _write(call: ApiCall[FileBody, NoQuery]) -> Response:
    project, path = call.path["project_id"], call.path["path"]
    data, expected = _data(call.body), _expected(call)

    def write() -> dict[str, Any]:
        spaces = call.gateway.claw.spaces
        spaces.get(project, active=True)
        return dict(vars(spaces.files(project).write(path, data, instead_of=expected)))

    facts = await call.gateway.blocking(write)
    await _record(call, "project.file.written", project, path=path, version=facts["version"], size=facts["size"])
    return JSONResponse(facts, headers={"ETag": f'"{facts["version"]}"'})


async def _delete(call: ApiCall[NoBody, NoQuery]) -> FileDeleted:
    project, path = call.path["project_id"], call.path["path"]
    expected = _expected(call)

    def delete() -> None:
        spaces = call.gateway.claw.spaces
        spaces.get(project, active=True)
        spaces.files(project).delete(path, version=expected)

    await call.gateway.blocking(delete)
    await _record(call, "project.file.deleted", project, path=path)
    return FileDeleted(path=path)


def _data(body: FileBody) -> bytes:
    try:
        if body.encoding == "base64":
            return base64.b64decode(body.content, validate=True)
        return body.content.encode("utf-8")
    except (binascii.Error, ValueError):
        raise ApiError(400, "invalid_request", f"`content` is not {body.encoding}") from None


def _expected(call: ApiCall[Any, Any]) -> str | None:
    """The version that a request was made for; `*` if there is to be no such file."""
    headers = call.request.headers
    if headers.get("if-none-match") == "*":
        return "*"
    given = headers.get("if-match")
    if given is not None and given.strip() == "*":
        raise ApiError(400, "invalid_request", "`If-Match` takes the ETag of a file", hint="read the file for its ETag")
    return None if given is None else given.strip().removeprefix('"').removesuffix('"')


async def _record(call: ApiCall[Any, Any], kind: str, project: str, **facts: str | int) -> None:
    said = {"project": project, "decided_by": call.sender.name, **facts}
    await call.gateway.blocking(call.gateway.claw.receipts.record, kind, said)


_FILE: Final = "/api/projects/{project_id}/files/{path:path}"
PROJECTS: Final = (
    Endpoint(
        method="POST", path="/api/projects", handler=_create, summary="Make a project", scope=Scope.RUN,
        body=NewProject, answer=ProjectFacts, status=201,
    ),
    Endpoint(
        method="GET", path="/api/projects", handler=_list, summary="List projects", scope=Scope.READ,
        query=ProjectFilter, answer=ProjectList,
    ),
    Endpoint(
        method="GET", path="/api/projects/{project_id}", handler=_show, summary="Show a project", scope=Scope.READ,
        answer=ProjectFacts, statuses=(404,),
    ),
    Endpoint(
        method="PATCH", path="/api/projects/{project_id}", handler=_change,
        summary="Rename, archive or restore a project", scope=Scope.OPERATOR, body=ProjectChange,
        answer=ProjectFacts, statuses=(404,),
    ),
    Endpoint(
        method="GET", path="/api/projects/{project_id}/conversation", handler=_conversation,
        summary="The conversation that a project has by itself", scope=Scope.RUN, answer=ConversationFacts,
        statuses=(404,),
    ),
    Endpoint(
        method="GET", path="/api/projects/{project_id}/files", handler=_files, summary="List a project's files",
        scope=Scope.READ, answer=FileList, statuses=(404,),
    ),
    Endpoint(
        method="GET", path=_FILE, handler=_read, summary="Read a file of a project", scope=Scope.READ,
        answer=FileText, statuses=(404, 413),
    ),
    Endpoint(
        method="PUT", path=_FILE, handler=_write, summary="Write a file of a project", scope=Scope.OPERATOR,
        body=FileBody, body_bytes=_LARGEST_BODY, answer=FileWritten, statuses=(404, 409, 412, 413),
    ),
    Endpoint(
        method="DELETE", path=_FILE, handler=_delete, summary="Remove a file of a project", scope=Scope.OPERATOR,
        answer=FileDeleted, statuses=(404, 409, 412, 413),
    ),
)  # fmt: skip
