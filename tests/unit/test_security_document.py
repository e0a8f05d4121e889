"""SECURITY.md names tests that there are."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_that_the_document_names_is_there() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8")))
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert named
    assert named - set(re.findall(r"def (test_\w+)\(", sources)) == set()
