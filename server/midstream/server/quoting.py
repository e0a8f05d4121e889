"""What a log line quotes of others: shown only where the user asked for it (`log.bodies`)."""

from attrs import frozen


@frozen
class Quoted:
    """Words of a user, of an agent or of a file among a log line's arguments; without further ado they are left out."""

    words: object

    def __str__(self) -> str:
        return "(not logged)"

    __repr__ = __str__
