"""Finds the public Amplifier modules, which are test data outside of this tree."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
MODULES = Path(os.environ.get("HOOKROUTER_AMPLIFIER_MODULES") or ROOT.parent / "shared" / "amplifier-modules")
MISSING = (
    f"SKIPPED, so Amplifier is not tested: no modules at {MODULES}; HOOKROUTER_AMPLIFIER_MODULES names their directory"
)


def sources() -> list[str]:
    """Return the directories that hold a package of a module."""
    found = {p.parent for pattern in ("*/amplifier_*", "*/modules/*/amplifier_*") for p in MODULES.glob(pattern)}
    return [str(HERE / "modules"), *sorted(map(str, found))]


@pytest.fixture(autouse=True)
def amplifier_modules(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """Have the modules importable, here and in programs that a test starts."""
    pytest.importorskip("amplifier_core", reason="SKIPPED, so Amplifier is not tested: amplifier-core is not installed")
    if request.path.name in ("test_page.py", "test_examples.py"):
        yield
        return
    if not MODULES.is_dir():
        pytest.skip(MISSING)
    for path in sources():
        monkeypatch.syspath_prepend(path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sources()))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("amplifier_module_"):
            del sys.modules[name]
