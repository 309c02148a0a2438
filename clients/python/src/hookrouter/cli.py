"""The command line: hookrouter host, and commands of the programs that the wheel carries."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from . import __version__, _programs
from .client import Connecting, IdentityRole, connect
from .errors import HookRouterError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments and arguments[0] in _programs.COMMANDS:
        try:
            return _programs.run(arguments[0], arguments[1:])
        except OSError as error:
            print(f"hookrouter: {error}", file=sys.stderr)
            return 1
    parser = argparse.ArgumentParser(prog="hookrouter", description="Hooks and agents on a hookrouter bus.")
    parser.add_argument("--version", action="version", version=f"hookrouter {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (_, what) in _programs.COMMANDS.items():
        commands.add_parser(name, help=what)
    host = commands.add_parser(
        "host",
        help="run Amplifier's hook modules as workers",
        description="Run Amplifier's hook modules, as they are, as workers of the bus.",
    )
    host.add_argument("modules", nargs="*", metavar="MODULE", help="an installed module, or the directory of one")
    host.add_argument("--plan", type=Path, metavar="FILE", help="a mount plan, for the modules' config (YAML or JSON)")
    host.add_argument("--url", help="the address of NATS (NATS_URL)")
    host.add_argument("--creds", help="credentials of a worker (NATS_CREDS)")
    host.add_argument("--agent-creds", help="credentials of an agent, for events that modules emit")
    host.add_argument("--prefix", default="hooks", help="the first token of the router's subjects")
    host.add_argument("--working-dir", metavar="DIR", help="the capability session.working_dir (default: here)")
    host.add_argument(
        "--on-failure",
        choices=("continue", "deny"),
        default="continue",
        help="what it means that a hook failed, or that this host is gone (default: continue, as in Amplifier)",
    )
    host.set_defaults(run=_host)
    options = parser.parse_args(arguments)
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    try:
        return int(asyncio.run(options.run(options)))
    except (HookRouterError, ValueError, OSError) as error:
        print(f"hookrouter: {error}", file=sys.stderr)
        return 1


async def _host(options: argparse.Namespace) -> int:
    try:
        import amplifier_core  # noqa: F401
    except ImportError:
        raise ValueError("host needs amplifier-core: pip install 'hookrouter[amplifier]'") from None
    from .amplifier._load import Module, read_plan
    from .amplifier.host import Host

    planned = read_plan(options.plan, options.on_failure) if options.plan else []
    by_name = {module.name: module for module in planned}
    named = [by_name.get(name) or Module(name, on_failure=options.on_failure) for name in options.modules]
    modules = [*named, *(m for m in planned if m.kind == "providers" and m not in named)] if named else planned
    if not modules:
        raise ValueError("host: no module: name one, or a --plan with hooks")
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, stop.set)
    async with contextlib.AsyncExitStack() as stack:
        bus = await stack.enter_async_context(_connect(options, "worker", options.creds))
        try:  # events that modules emit need the permissions of an agent
            agent = await stack.enter_async_context(_connect(options, "agent", options.agent_creds or options.creds))
        except HookRouterError as error:
            logging.getLogger("hookrouter").warning(
                "hooks.emit of modules will fail: no identity of an agent: %s", error
            )
            agent = None
        host = Host(bus, modules, agent=agent, working_dir=options.working_dir)
        try:
            for reg in await host.start():
                wants = " ".join(reg.events or reg.channels)
                print(f"{reg.id}: {wants} (priority {reg.priority}, on failure {reg.on_failure})")
            print("hookrouter host is ready", flush=True)
            await stop.wait()
        finally:
            await host.close()
    return 0


def _connect(options: argparse.Namespace, role: IdentityRole, creds: str | None) -> Connecting:
    return connect(options.url, role=role, creds=creds, prefix=options.prefix, name="hookrouter host")


if __name__ == "__main__":
    sys.exit(main())
