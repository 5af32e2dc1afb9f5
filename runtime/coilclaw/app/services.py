"""From a configuration to what runs use: policy, bounds, limits, secrets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coilclaw.config import SecretStore
from coilclaw.policy import Autonomy, Policy

if TYPE_CHECKING:
    from coilclaw.app.stores import Stores
    from coilclaw.bridge import Handlers, Services
    from coilclaw.config import Config, Settings
    from coilclaw.sandbox import Limits
    from coilclaw.sdk import Bounds
    from coilclaw.trust import WriteGuard

__all__ = ["make_bounds", "make_policy", "make_secrets", "make_services", "project_services", "run_limits"]


def make_policy(config: Config) -> Policy:
    return Policy(Autonomy(config.security.autonomy), [each.rule() for each in config.policy.rules])


def make_secrets(settings: Settings, environment: Mapping[str, str]) -> SecretStore:
    """Where the values of declared secrets come from."""
    return SecretStore(settings.home, environment, keyring=settings.config.secrets.keyring)


def run_limits(config: Config) -> Limits:
    from coilclaw.sandbox import Limits

    limits = config.limits
    return Limits(
        seconds=limits.seconds,
        memory_bytes=limits.memory_mib * 2**20,
        output_bytes=limits.output_bytes,
        source_bytes=limits.source_bytes,
        calls=limits.calls,
        kept_bytes=limits.kept_bytes,
    )


def make_bounds(settings: Settings) -> Bounds:
    """What tools may reach. Our own files are forbidden too: who can write them can change policy and receipts."""
    from coilclaw.sdk import Bounds

    config = settings.config
    security = config.security
    forbidden = (*security.forbidden_paths, *settings.own_paths)
    return Bounds(
        autonomy=security.autonomy,
        forbidden_paths=_forbidden(forbidden, config.workspace_dir.resolve()),
        forbidden_commands=security.forbidden_commands,
        shell_allow=security.shell_allow,
        http_domains=security.http_domains,
        http_private=security.http_private,
        shell_seconds=config.limits.shell_seconds,
        http_seconds=config.limits.http_seconds,
        response_bytes=config.limits.response_bytes,
    )


def make_services(
    settings: Settings,
    stores: Stores,
    policy: Policy,
    handlers: Handlers,
    secrets: SecretStore,
    guard: WriteGuard,
) -> Services:
    """What all runs in one workspace share."""
    from coilclaw.bridge import Services
    from coilclaw.policy import EmergencyStop

    config = settings.config
    return Services(
        log=stores.log,
        database=stores.database,
        approvals=stores.approvals,
        policy=policy,
        handlers=handlers,
        workspace=config.workspace_dir.resolve(),
        secret=secrets.get,
        bounds=make_bounds(settings),
        settings=config.integrations.settings_of,
        tool_seconds=config.limits.tool_seconds,
        response_bytes=config.limits.response_bytes,
        stop=EmergencyStop.of_home(settings.home),
        guard=guard,
    )


def project_services(services: Services, settings: Settings, folder: Path) -> Services:
    """What runs of a project share: its folder is their workspace, though it lies among our own files.

    Only what encloses the folder is taken off the list. Tools reach nothing outside their workspace, so that what else
    lies there stays out of reach; and what a person has forbidden stays forbidden.
    """
    from coilclaw.spaces import RESERVED

    own = [path for path in settings.own_paths if not folder.is_relative_to(path.resolve())]
    # Live artifacts have their own way in; `tools` is that of the one workspace, and nothing here may pass for it.
    reserved = [folder / name for name in RESERVED if name != ".git"]
    forbidden = (*settings.config.security.forbidden_paths, *own, *reserved)
    bounds = replace(services.bounds, forbidden_paths=_forbidden(forbidden, folder))
    return replace(services, workspace=folder, bounds=bounds, tools_folder=services.workspace / "tools")


def _forbidden(paths: Iterable[Path], workspace: Path) -> tuple[Path, ...]:
    # A path that is a link is forbidden itself, and so is what it leads to.
    both = dict.fromkeys(each for path in paths for each in (path, path.resolve()))
    return (*both, *_histories(both, workspace))


def _histories(forbidden: Iterable[Path], workspace: Path) -> tuple[Path, ...]:
    """Where git keeps the contents of forbidden paths in the workspace: the `.git` of every folder above them."""
    folders = dict.fromkeys(folder for path in forbidden for folder in path.parents if folder.is_relative_to(workspace))
    return tuple(folder / ".git" for folder in folders)
