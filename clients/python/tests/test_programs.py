from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookrouter._programs import find_binary

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs here are shell scripts")


def run(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HOOKROUTER_BIN": str(directory), "PATH": str(directory)}
    return subprocess.run(
        [sys.executable, "-m", "hookrouter.cli", *arguments], env=env, capture_output=True, text=True, check=False
    )


def test_commands_are_passed_on(tmp_path: Path) -> None:
    program = tmp_path / "hookctl"
    program.write_text('#!/bin/sh\nfor a in "$@"; do echo "$a"; done\nexit 3\n')
    program.chmod(0o700)
    done = run(tmp_path, "scan", "--json", "two words")
    assert (done.returncode, done.stdout) == (3, "scan\n--json\ntwo words\n"), done.stderr


def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOKROUTER_BIN", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="no-such-program is not found: install a wheel"):
        find_binary("no-such-program")


def test_the_commands_are_listed(tmp_path: Path) -> None:
    done = run(tmp_path, "--help")
    assert done.returncode == 0
    for command in ("demo", "scan", "host"):
        assert f"\n    {command} " in done.stdout
