"""The command line: each command is imported only when it is used."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["rehearsal-agent"]:
        from midstream.server.rehearsal.main import main as rehearse

        return rehearse(arguments[1:])
    if arguments[:1] == ["reader"]:
        from midstream.server.reader.main import main as read

        return read(arguments[1:])
    options = _parser().parse_args(arguments)
    match options.command:
        case "serve":
            from midstream.server.cli.serve import serve

            return serve(options.data_dir, options.config, rehearsal=options.rehearsal)
        case "demo":
            from midstream.server.cli.demo import demo

            return demo(as_json=options.json)
        case "list":
            from midstream.server.cli.listing import list_threads

            data_dir, workspace = _path(options.data_dir), _path(options.workspace)
            return list_threads(data_dir, workspace, archived=options.archived, as_json=options.json)
        case "export":
            from midstream.server.cli.exporting import export

            return export(_path(options.data_dir), options.thread, as_jsonl=options.jsonl, secrets=options.secrets)
        case "import":
            from pathlib import Path

            from midstream.server.cli.importing import import_thread

            return import_thread(_path(options.data_dir), Path(options.file))
        case "agents":
            from midstream.server.cli.agents import agents

            return agents(_path(options.config), as_json=options.json)
        case _:
            from midstream.server.cli.doctor.main import doctor

            return doctor(_path(options.data_dir), _path(options.config), rebuild=options.rebuild, as_json=options.json)


def _path(name: str | None) -> "Path | None":
    from pathlib import Path

    return None if name is None else Path(name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="midstream", description="Change agents midstream without losing the thread.")
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="speak JSON-RPC with an editor")
    serve.add_argument("--stdio", action="store_true", help="speak on stdin and stdout, which is the default")
    serve.add_argument("--rehearsal", action="store_true", help="add two agents that need no account")
    demo = commands.add_parser("demo", help="see one conversation move between two agents and back")
    demo.add_argument("--json", action="store_true", help="print one JSON object for each event")
    doctor = commands.add_parser("doctor", help="check the data folder and the configured agents")
    doctor.add_argument("--rebuild", action="store_true", help="make the tables anew from the event log")
    doctor.add_argument("--json", action="store_true", help="print JSON")
    threads = commands.add_parser("list", help="list the threads, newest first")
    threads.add_argument("--workspace", metavar="DIR", help="only those of this workspace")
    threads.add_argument("--archived", action="store_true", help="the archived ones instead")
    threads.add_argument("--json", action="store_true", help="print JSON")
    agents = commands.add_parser("agents", help="start each configured agent once, and say whether it works")
    agents.add_argument("--json", action="store_true", help="print JSON")
    document = commands.add_parser("export", help="print one thread as Markdown")
    document.add_argument("thread", help="its id, as midstream list shows it")
    document.add_argument("--jsonl", action="store_true", help="every record as a line of JSON instead")
    document.add_argument("--secrets", action="store_true", help="leave in what looks like a secret")
    exported = commands.add_parser("import", help="take in a thread that export --jsonl wrote; no daemon may run")
    exported.add_argument("file", help="the exported lines")
    for command in (serve, doctor, threads, document, exported):
        command.add_argument("--data-dir", help="where threads are kept")
    for command in (serve, doctor, agents):
        command.add_argument("--config", help="the configuration file")
    commands.add_parser("rehearsal-agent", help="an agent without a model, for trying and testing", add_help=False)
    commands.add_parser(
        "reader", help="an MCP server that agents are given, to read what they were not told", add_help=False
    )
    return parser
