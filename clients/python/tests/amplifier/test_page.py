"""What docs/amplifier.md shows is what the package takes."""

from __future__ import annotations

import re
from pathlib import Path

from hookrouter.amplifier import Config
from hookrouter.amplifier._coordinator import ELSEWHERE, UNKNOWN
from hookrouter.amplifier._load import read_plan

PAGE = (Path(__file__).parents[2] / "docs/amplifier.md").read_text("utf-8")


def snippet(name: str) -> str:
    found = re.search(rf"^```yaml {name}\n(.*?)^```$", PAGE, re.M | re.S)
    assert found
    return found[1]


def test_the_mount_plan() -> None:
    import yaml

    [entry] = yaml.safe_load(snippet("mount-plan"))["hooks"]
    assert Config.of(entry["config"]) == Config.of({**entry["config"], "closed": list(Config().closed)})


def test_the_plan_of_a_host(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(snippet("host-plan"))
    approval, provider = read_plan(tmp_path / "plan.yaml")
    assert (approval.on_failure, approval.timeout_ms, provider.kind) == ("deny", 10000, "providers")


def test_every_option_and_refused_call_is_listed() -> None:
    for name in Config.__dataclass_fields__:
        assert f"`{name}`" in PAGE, name
    for name in UNKNOWN:
        assert f"`{name}`" in PAGE, name
    assert {"context", "tools", "orchestrator"} <= set(ELSEWHERE)
