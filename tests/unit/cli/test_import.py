"""`midstream import`: what is refused."""

from pathlib import Path

import pytest

from support.cli import midstream

HEADER = '{"type":"midstream","version":1}\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# A thread\n", "Line 1"),
        ('{"type":"midstream","version":2}\n', "Line 1"),
        (HEADER, "0 threads"),
        (HEADER + '{"type":"thread","record":{"id":"thr_1"}}\n', "Line 2"),
        (HEADER + '{"type":"handoff","record":{}}\n', "Line 2"),
        (HEADER + "[]\n", "Line 2"),
    ],
)
def test_what_is_no_export_is_refused_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "file").write_text(text)
    done = midstream("import", tmp_path / "file", "--data-dir", tmp_path / "data")
    assert (done.status, done.out, problem in done.err) == (1, "", True)
    assert not (tmp_path / "data").exists()
