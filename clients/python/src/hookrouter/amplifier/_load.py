"""Finds Amplifier modules and reads mount plans."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

KINDS = ("hooks", "providers")
"""The sections of a mount plan that a host mounts."""


@dataclass(frozen=True)
class Module:
    """One entry of a mount plan."""

    name: str
    config: dict[str, Any] = field(default_factory=dict)
    source: str | None = None
    """The directory of a module that is not installed."""
    on_failure: Literal["continue", "deny"] = "continue"
    timeout_ms: int = 25_000
    """Amplifier has no timeout. The chain's is 30 s, and on_failure applies only to a hook that
    fails before that."""
    kind: str = "hooks"


def read_plan(path: Path, on_failure: Any = "continue") -> list[Module]:
    """Read the hooks and providers of a mount plan, in YAML or JSON."""
    text = path.read_text("utf-8")
    try:
        if path.suffix == ".json":
            plan = json.loads(text)
        else:
            import yaml

            plan = yaml.safe_load(text)
    except ImportError:
        raise ValueError(f"{path}: YAML needs pip install 'hookrouter[amplifier]'; JSON does not") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    except Exception as error:  # of the YAML reader
        raise ValueError(f"{path}: it is not YAML: {error}") from None
    if not isinstance(plan, dict):
        raise ValueError(f"{path}: a mount plan is an object with hooks")
    return [
        _entry(entry, kind, on_failure, path)
        for kind in KINDS
        for entry in plan.get(kind) or ()
        if not (isinstance(entry, dict) and entry.get("module") == "hooks-hookrouter")
    ]


def _entry(entry: Any, kind: str, on_failure: Any, path: Path) -> Module:
    if isinstance(entry, str):
        entry = {"module": entry}
    if not isinstance(entry, Mapping) or not isinstance(entry.get("module"), str):
        raise ValueError(f"{path}: an entry of {kind} needs a module: {entry!r:.80}")
    extra = entry.get("hookrouter") or {}
    if unknown := set(extra) - {"on_failure", "timeout_ms"}:
        raise ValueError(f"{path}: {entry['module']}: hookrouter.{unknown.pop()}: only on_failure and timeout_ms")
    source = entry.get("source")
    if source is not None and "://" in str(source).removeprefix("file://"):
        raise ValueError(f"{path}: {entry['module']}: source {source}: a host downloads nothing; install the module")
    if source is not None:
        source = str((path.parent / str(source).removeprefix("file://")).resolve())
    config = {"on_failure": on_failure, **extra}
    return Module(entry["module"], dict(entry.get("config") or {}), source, kind=kind, **config)


def load(module: Module) -> tuple[Callable[..., Any], Callable[..., Any] | None]:
    """Return the mount function of a module, and its on_session_ready."""
    source = module.source
    if source is None and Path(module.name).is_dir():
        source = module.name
    package = None
    if source is not None:
        root = Path(source).resolve()
        found = sorted(p.parent.name for p in root.glob("amplifier_module_*/__init__.py"))
        if not found:
            raise ValueError(f"{root}: no package amplifier_module_* in it")
        if str(root) not in sys.path:
            sys.path.insert(0, str(root))
        package = importlib.import_module(found[0])
    else:
        for entry in importlib.metadata.entry_points(group="amplifier.modules", name=module.name):
            package = importlib.import_module(entry.module)
        package = package or _import(module.name)
    mount = getattr(package, "mount", None)
    if not callable(mount):
        raise ValueError(f"{module.name}: {package.__name__} has no mount")
    return mount, getattr(package, "on_session_ready", None)


def short_name(module: Module) -> str:
    """Return the name of a module that is given as a directory."""
    name = Path(module.name).name if "/" in module.name or module.name == "." else module.name
    return name.removeprefix("amplifier-module-")


def _import(name: str) -> Any:
    package = f"amplifier_module_{name.replace('-', '_')}"
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise ValueError(f"{name}: {error}: install what it needs") from error
        raise ValueError(
            f"{name}: no such module is installed: install it, or name its directory ({package} is not found)"
        ) from None
