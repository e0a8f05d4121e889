"""How large a text is for a model."""

from typing import Final

BYTES_PER_TOKEN: Final = 3


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text takes, rather too many than too few.

    English and code run at about four bytes a token, and three leave room for what tokenizers split finer. The
    estimate of a whole is never more than the sum over its parts.
    """
    return -(-len(text.encode()) // BYTES_PER_TOKEN)
