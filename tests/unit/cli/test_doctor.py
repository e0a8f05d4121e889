"""`midstream doctor` as a command: its status, its JSON, its words, and the daemon that it works beside."""

import os
from pathlib import Path

from midstream.server.version import VERSION
from support.cli import Done, midstream
from support.editor import editor_on


def doctor(data: Path, config: Path, *flags: str) -> Done:
    done = midstream("doctor", "--data-dir", data, "--config", config, *flags)
    assert done.err == ""
    return done


def test_a_data_folder_that_is_well_ends_it_with_status_0_and_all_that_takes_room_is_named(
    data: Path, config: Path
) -> None:
    done = doctor(data, config, "--json")
    report = done.json
    assert (done.status, report["well"]) == (0, True)
    assert {finding["severity"] for finding in report["findings"]} == {"ok", "warning"}
    assert [agent["kind"] for agent in report["agents"]] == ["codex", "claude", "rehearsal"]
    assert report["agents"][2]["version"] == "1"
    assert set(report["versions"]) == {"midstream", "python", "git", "sqlite"}
    assert report["paths"]["database"] == str(data / "midstream.db")
    long, short, archived = report["disk"]["threads"]
    assert [thread["title"] for thread in (long, short, archived)] == ["Long", "Sho\x1brt", "Archived"]
    assert long["texts"] > 30_000
    assert long["total"] == long["rows"] + long["texts"] + long["checkpoints"] + long["attachments"] > short["total"]
    assert long["checkpoints"] > short["checkpoints"] > archived["checkpoints"] == 0
    assert report["disk"]["parts"]["checkpoints"] > long["checkpoints"]


async def test_it_works_beside_a_running_daemon_and_sees_what_that_has_just_stored(
    tmp_path: Path, workspace: Path, config: Path
) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        await editor.say(thread, "say: hello")
        done = doctor(tmp_path / "data", config, "--json")
        pid = editor.daemon_pid()
        assert (done.status, done.json["daemon"]) == (0, {"pid": pid, "version": VERSION})
        assert [used["threadId"] for used in done.json["disk"]["threads"]] == [thread.id]
        refused = doctor(tmp_path / "data", config, "--json", "--rebuild")
        wrong = [finding for finding in refused.json["findings"] if finding["severity"] == "error"]
        assert (refused.status, [finding["subject"] for finding in wrong]) == (1, ["rebuild"])
        assert wrong[0]["action"] == f"Close the editors that use it, or end it (kill {pid}), and try again."
        assert (await editor.say(thread, "say: nobody was disturbed")).status == "completed"


def test_for_a_person_the_worst_comes_first_and_nothing_steers_the_terminal(data: Path) -> None:
    (data / "midstream.db").write_bytes(b"no database")
    (data / "daemon.sock").touch()
    done = doctor(data, Path(os.devnull))
    ranks = [line.split()[0] for line in done.out.splitlines() if line.startswith(("error  ", "warning  ", "ok  "))]
    assert (done.status, ranks) == (1, sorted(ranks, key=["error", "warning", "ok"].index))
    assert set(ranks) == {"error", "warning", "ok"}
    assert f"error    database: {data / 'midstream.db'} cannot be read" in done.out
    assert "         → Move it away, or bring back a copy of it." in done.out
    assert done.out.splitlines()[-1].startswith("2 errors, 2 warnings.")


def test_the_rooms_of_threads_are_a_table_that_no_title_can_break(data: Path, config: Path) -> None:
    lines = doctor(data, config).out.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("thread "))
    for line, title in zip(lines[start + 1 :], ("Long", "Sho rt", "Archived"), strict=False):
        assert line.endswith(f"  {title}")
    assert all(character.isprintable() for line in lines for character in line)
