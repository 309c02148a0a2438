"""Amplifier on the bus, in both directions.

mount is a hook module for amplifier-core: it forwards a session's events to the bus and returns what the hooks
there decide. `hookrouter host` is the other direction: it runs Amplifier's hook modules as workers of the bus.
"""

from ._config import Config
from .module import mount

__all__ = ["Config", "mount"]
__amplifier_module_type__ = "hook"
