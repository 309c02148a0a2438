"""The specification's Python examples with only the import changed."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import pytest

from hookrouter.testing.router import Router

from .conftest import ROOT
from .examples import Example, examples, run

SPEC = Path(os.environ.get("HOOKROUTER_SPEC") or ROOT.parent / "shared" / "spec")
PAGE = ROOT / "clients/python/docs/amplifier.md"
REASONS = {
    SyntaxError: "it is a signature, or a part of a function: no Python that runs",
    NameError: "it uses names that neither it nor the text defines",
    TypeError: "amplifier-core's `register` is not a decorator. It runs here",
}


async def tried(example: Example, package: str) -> tuple[Any, Exception | None]:
    try:
        return await asyncio.wait_for(run(example, package), 30), None
    except Exception as error:
        return None, error


async def test_the_examples_of_the_specification(hook_router: Router, capfd: pytest.CaptureFixture[str]) -> None:
    """What runs on amplifier-core runs here, with the same results; the page lists the rest."""
    if not SPEC.is_dir():
        pytest.skip(f"SKIPPED, so the examples are not tested: no specification at {SPEC}; HOOKROUTER_SPEC names it")
    rest: dict[str, set[str]] = {}
    ran = only_here = 0
    for example in examples(SPEC):
        expected, error = await tried(example, "amplifier_core")
        got, ours = await tried(example, "hookrouter")
        if error is None:
            ran += 1
            assert ours is None, f"{example}: {ours!r}"
            assert got == expected, example
        else:
            reason = next(text for kind, text in REASONS.items() if isinstance(error, kind))
            rest.setdefault(f"`{example.document}` | {reason}", set()).add(str(example.line))
            only_here += ours is None
    page = PAGE.read_text("utf-8")
    rows = {
        f"{document} | {reason}": set(lines.split(", "))
        for document, lines, reason in re.findall(r"^\| (`\d-[^|]*`) \| ([\d, ]+) \| ([^|]*) \|$", page, re.M)
    }
    assert rows == rest
    assert f"{ran} of the {ran + sum(map(len, rest.values()))} examples\nrun on amplifier-core" in page
    assert only_here == 1
