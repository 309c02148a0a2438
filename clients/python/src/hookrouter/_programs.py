"""The programs of the project that the wheel contains."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

COMMANDS = {
    "demo": ("hook-router", "one turn of an agent through real hooks, in one process"),
    "serve": ("hook-router", "run a router"),
    "scan": ("hookctl", "what a policy would have stopped in the sessions of coding agents on this machine"),
    "connect": ("hookctl", "put a coding agent of this machine behind the router"),
    "doctor": ("hookctl", "check what is gated"),
    "why": ("hookctl", "why an event was denied"),
}
"""Commands that `hookrouter` forwards to other programs with all arguments."""


def find_binary(name: str = "hook-router") -> str:
    """Find a program of the project: in HOOKROUTER_BIN, next to this Python, where the wheel
    installs it, or in PATH.

    HOOKROUTER_BIN names the directory of the programs.
    """
    file = name + (".exe" if os.name == "nt" else "")
    user = sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))
    for place in (
        os.environ.get("HOOKROUTER_BIN"), str(Path(sys.executable).parent), sysconfig.get_path("scripts"), user,
        os.environ.get("PATH"),
    ):  # fmt: skip
        if place and (found := shutil.which(file, path=place)):
            return found
    raise FileNotFoundError(
        f"{file} is not found: install a wheel of hookrouter for this platform, or set HOOKROUTER_BIN to its directory"
    )


def run(command: str, arguments: Sequence[str]) -> int:
    """Replace this program with a command of another program."""
    program = find_binary(COMMANDS[command][0])
    line = [program, command, *arguments]
    if os.name != "nt":  # Windows has no exec that a shell would wait for
        os.execv(program, line)  # noqa: S606
    return subprocess.run(line, check=False).returncode  # noqa: S603  the program that was found
