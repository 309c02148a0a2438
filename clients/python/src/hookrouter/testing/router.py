"""A real router in a separate process, for tests."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from .._programs import find_binary

__all__ = ["Router", "find_binary"]


class Router:
    """A router with an embedded NATS server on loopback, with its state in a directory.

    With auth, it creates credentials, which programs with env() find.
    """

    def __init__(self, directory: str | Path, *, auth: bool = False, flags: Sequence[str] = ()) -> None:
        """Create a router that is not running yet."""
        self.directory = Path(directory)
        self.url = ""
        self._auth, self._flags = auth, list(flags)
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0

    @property
    def log(self) -> str:
        """The log of the router since its last start."""
        return self._log.read_text("utf-8", "replace")

    @property
    def _log(self) -> Path:
        return self.directory / f"router-{self._starts}.log"

    def env(self) -> dict[str, str]:
        """Return the changes of the environment for programs that use this router."""
        home = str(self.directory / "home")
        return {"NATS_URL": self.url, "HOME": home, "XDG_CONFIG_HOME": os.path.join(home, ".config")}

    def start(self, timeout: float = 20.0) -> Router:
        """Start and wait until it is ready. A restart uses the same address."""
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / "home").mkdir(exist_ok=True)
        self._starts += 1
        listen = self.url.partition("://")[2] or "127.0.0.1:0"
        command = [
            find_binary(), f"--nats-listen={listen}", "--http-listen=", "--agent-http-listen=", "--audit=async",
            f"--store-dir={self.directory / 'store'}", f"--auth={'on' if self._auth else 'off'}", *self._flags,
        ]  # fmt: skip
        with open(self._log, "wb") as out:
            self._process = subprocess.Popen(  # noqa: S603  the program that was found
                command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **self.env()}
            )
        until = time.monotonic() + timeout
        while "is ready after" not in self.log or not (found := re.search(r"NATS +(nats://\S+)", self.log)):
            if self._process.poll() is not None or time.monotonic() > until:
                self.kill()
                raise RuntimeError(f"the router did not start:\n{self.log}")
            time.sleep(0.01)
        self.url = found[1]
        return self

    def stop(self, timeout: float = 40.0) -> None:
        """Stop it gracefully, as an operator does."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(timeout)
            self._process = None

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
