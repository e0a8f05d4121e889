"""How sections are laid out: a mark of ours begins every line, so that no foreign text stands at a line's start."""

from collections.abc import Iterator
from typing import Final

from attrs import frozen

from midstream.protocol.records.handoff import HandoffSection
from midstream.server.handoff.text import clean


@frozen(kw_only=True)
class Marks:
    """What begins a line: of a heading, of an entry, and of quoted foreign text."""

    heading: str = "# "
    entry: str = "- "
    quote: str = "> "

    def protect(self, line: str) -> str:
        """Return a line that a mark begins."""
        return line if line.startswith((self.heading, self.entry, self.quote)) else self.quote + line


MARKS: Final = Marks()
NO_MARKS: Final = Marks(heading="", entry="", quote="")
"""For the test that shows what the marks are good for."""


def render(opening: str, sections: tuple[HandoffSection, ...], marks: Marks = MARKS, closing: str = "") -> str:
    """Return the text inside the fence: the opening line, the sections, and a closing line where there is one."""
    return "\n".join(_lines(opening, sections, marks, closing))


def _lines(opening: str, sections: tuple[HandoffSection, ...], marks: Marks, closing: str) -> Iterator[str]:
    yield heading(opening, marks)
    for section in sections:
        if section.entries:
            yield heading(section.title, marks)
            yield from (entry(told.text, marks) for told in section.entries)
    if closing:
        yield heading(closing, marks)


def heading(text: str, marks: Marks = MARKS) -> str:
    """Return a heading's line."""
    return marks.heading + text


def entry(text: str, marks: Marks = MARKS) -> str:
    """Return an entry's lines: the first is marked as an entry, the others as quoted."""
    first, *rest = clean(text).split("\n")
    return "\n".join((marks.entry + first, *(marks.quote + line for line in rest)))
