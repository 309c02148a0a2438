"""Puts the programs of the project into the wheel, where HOOKROUTER_PROGRAMS names their directory."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Programs(BuildHookInterface):
    """Makes a wheel for one platform; without the variable the wheel is pure Python."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the programs as scripts, which pip puts beside Python."""
        directory = os.environ.get("HOOKROUTER_PROGRAMS")
        if directory is None or version == "editable":
            return
        programs = sorted(path for path in Path(directory).iterdir() if path.name.startswith("hook"))
        if not programs:
            raise ValueError(f"there are no programs in {directory}")
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + os.environ["HOOKROUTER_PLATFORM"]
        build_data["shared_scripts"] = {str(path): path.name for path in programs}
