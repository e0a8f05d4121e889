"""What a rehearsal agent is told at its start: its name, where it keeps sessions, what it can not do."""

import argparse
import os
from pathlib import Path

from attrs import frozen

STATE_DIR_VARIABLE = "MIDSTREAM_REHEARSAL_DIR"
CRASH_PHASES = ("initialize", "new", "resume", "prompt")
ABILITIES = (
    "resume",
    "load",
    "fork",
    "fork-at-turn",
    "rewind",
    "steer",
    "embedded-context",
    "list",
    "close",
    "image",
    "modes",
    "questions",
    "mcp",
    "turn-started",
    "throw-away",
)


@frozen
class Options:
    """One agent's configuration; ``abilities`` names, out of ``ABILITIES``, what it can do."""

    name: str
    state_dir: Path
    abilities: frozenset[str]
    context_window: int
    enforce_window: bool
    refuse_resume: bool
    models: tuple[str, ...]
    start_delay: float
    crash_on: str | None
    session_log: Path | None

    def can(self, ability: str) -> bool:
        return ability in self.abilities


def parse_options(argv: list[str]) -> Options:
    """Read the command line; exits with status 2 and a message on stderr when it is wrong."""
    parser = argparse.ArgumentParser(prog="midstream rehearsal-agent", description="A scripted ACP agent.")
    parser.add_argument("--name", default="rehearsal", help="its name; sessions are kept apart by it")
    parser.add_argument("--state-dir", type=Path, help=f"where sessions are kept (or ${STATE_DIR_VARIABLE})")
    for ability in ABILITIES:
        parser.add_argument(f"--no-{ability}", dest="missing", action="append_const", const=ability)
    parser.add_argument("--context-window", type=int, default=200_000, metavar="TOKENS")
    parser.add_argument("--enforce-window", action="store_true", help="refuse a prompt over the window")
    parser.add_argument("--refuse-resume", action="store_true", help="answer resume and load with an error")
    parser.add_argument("--models", type=lambda names: tuple(names.split(",")), default=())
    parser.add_argument("--start-delay", type=int, default=0, metavar="MS")
    parser.add_argument("--crash-on", choices=CRASH_PHASES)
    parser.add_argument("--session-log", type=Path, help="append every line received to this file")
    given = parser.parse_args(argv)
    return Options(
        name=given.name,
        state_dir=(given.state_dir or default_state_dir()) / given.name,
        abilities=frozenset(ABILITIES) - frozenset(given.missing or ()),
        context_window=given.context_window,
        enforce_window=given.enforce_window,
        refuse_resume=given.refuse_resume,
        models=given.models,
        start_delay=given.start_delay / 1000,
        crash_on=given.crash_on,
        session_log=given.session_log,
    )


def default_state_dir() -> Path:
    """The folder from the environment, or the platform's place for a user's data."""
    if configured := os.environ.get(STATE_DIR_VARIABLE):
        return Path(configured)
    from platformdirs import user_data_path  # only a start without configuration pays for this import

    return user_data_path("midstream") / "rehearsal"
