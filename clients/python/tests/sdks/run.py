#!/usr/bin/env python3
"""Runs the cases with real SDKs, each in a virtual environment of its own that it keeps in the user's cache.

SDKS names them, or is all; without it two of them run, in rotation by the day of the year. HOOKROUTER_BIN is the
directory of hook-router, hookctl and stubmodel; without it this builds them. `run.py --install` only installs.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent
ALL = sorted(file.stem for file in (HERE / "requirements").glob("*.txt"))
PROGRAMS = ["./cmd/hook-router", "./cmd/hookctl", "./test/agents/stubmodel/serve"]


def chosen() -> list[str]:
    """Return the SDKs to run."""
    named = os.environ.get("SDKS", "")
    if named == "all":
        return ALL
    if named:
        wrong = sorted(set(named.split(",")) - set(ALL))
        if wrong:
            sys.exit(f"SDKS: {', '.join(wrong)}: there are {', '.join(ALL)}, and all")
        return named.split(",")
    day = datetime.now(UTC).timetuple().tm_yday
    return [ALL[(2 * day + n) % len(ALL)] for n in (0, 1)]


def installed(sdk: str) -> Path:
    """Return the Python of an SDK's environment, which it makes where it is missing."""
    wanted = HERE / "requirements" / f"{sdk}.txt"
    digest = hashlib.sha256(wanted.read_bytes() + sys.version.encode()).hexdigest()[:12]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hookrouter-test" / "sdks"
    place = cache / f"{sdk}-{digest}"
    python = place / "bin" / "python"
    if not (place / "complete").exists():
        began = time.monotonic()
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", str(wanted)]
        subprocess.run(pip, check=True)
        (place / "complete").touch()
        print(f"{sdk}: installed in {time.monotonic() - began:.0f} s", flush=True)
    return python


def claude() -> str:
    """Return the program that the Claude Agent SDK drives, installed by test/agents."""
    root = PACKAGE.parent.parent
    done = subprocess.run(
        ["go", "run", "./test/agents/install", "claude-code"], check=True, cwd=root, capture_output=True, text=True
    )
    place = done.stdout.partition(": ")[2].rpartition(", after")[0]
    return f"{place}/node_modules/@anthropic-ai/claude-code-linux-x64/claude"


def programs(into: str) -> str:
    """Build what the cases run."""
    if given := os.environ.get("HOOKROUTER_BIN"):
        return given
    root = PACKAGE.parent.parent
    for program in PROGRAMS:
        name = "stubmodel" if program.endswith("serve") else program.rpartition("/")[2]
        subprocess.run(["go", "build", "-o", str(Path(into) / name), program], check=True, cwd=root)
    return into


def run(sdk: str, directory: str) -> bool:
    """Run the cases with one SDK."""
    began = time.monotonic()
    env = {**os.environ, "SDK": sdk, "HOOKROUTER_BIN": directory, "PYTHONPATH": str(PACKAGE / "src")}
    if sdk == "claude-agent-sdk":
        env["CLAUDE"] = claude()
    pytest = [str(installed(sdk)), "-B", "-m", "pytest", "-p", "hookrouter.testing.plugin", "-p", "no:cacheprovider"]
    done = subprocess.run([*pytest, "tests/sdks"], cwd=PACKAGE, env=env)
    result = "passed" if done.returncode == 0 else "FAILED"
    print(f"{sdk}: {result} after {time.monotonic() - began:.0f} s", flush=True)
    return done.returncode == 0


def main() -> int:
    sdks = chosen()
    if "--install" in sys.argv[1:]:
        for sdk in sdks:
            installed(sdk)
        return 0
    with tempfile.TemporaryDirectory() as into:
        directory = programs(into)
        passed = [run(sdk, directory) for sdk in sdks]
        return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
