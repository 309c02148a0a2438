"""Integration with Amplifier, in both directions.

mount is a hook module for amplifier-core: it forwards a session's events to the bus and returns the
decisions of the hooks there. `hookrouter host` is the other direction: it runs Amplifier's hook
modules as workers on the bus.
"""

from ._config import Config
from .module import mount

__all__ = ["Config", "mount"]
__amplifier_module_type__ = "hook"
