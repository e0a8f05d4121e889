"""Long texts of items: what a record shows of them, and how much of a growing one there is."""

from attrs import frozen

from midstream.protocol.records.item import Shortened

SHOWN = 8_192
"""The longest text, in code points, that stands whole in a record."""

KEPT = SHOWN // 2
"""How much of a longer one is shown from its start, and from its end."""

RECORD_EVERY = 65_536
"""A growing text's record is put anew after so much, so that a new subscriber has little to catch up on."""


@frozen(kw_only=True)
class GrowingText:
    """A text seen so far: its length in code points, its first and last `KEPT`, and the length last recorded."""

    length: int = 0
    head: str = ""
    tail: str = ""
    recorded: int = 0

    def appended(self, text: str) -> "GrowingText":
        """Return what is known once `text` was added."""
        head = self.head if len(self.head) == KEPT else (self.head + text[:KEPT])[:KEPT]
        tail = text[-KEPT:] if len(text) >= KEPT else (self.tail + text)[-KEPT:]
        return GrowingText(length=self.length + len(text), head=head, tail=tail, recorded=self.recorded)

    def rest_of(self, whole: str | None) -> str:
        """Return what a whole text has beyond this one; nothing where it does not go on from here."""
        if whole is None or len(whole) <= self.length:
            return ""
        goes_on = whole.startswith(self.head) and whole.endswith(self.tail, 0, self.length)
        return whole[self.length :] if goes_on else ""

    @property
    def due(self) -> bool:
        """Whether the record is so far behind that it should be put anew."""
        return self.length - self.recorded >= RECORD_EVERY

    def shown(self, field: str, path: str | None = None) -> tuple[str, Shortened | None]:
        """Return the text as a record shows it, and the mark of what was left out."""
        if self.length <= SHOWN:
            return self.head + self.tail[max(0, 2 * KEPT - self.length) :] if self.length > KEPT else self.head, None
        mark = Shortened(field=field, path=path, head_length=KEPT, tail_offset=self.length - KEPT)
        return self.head + self.tail, mark
