# SPDX-License-Identifier: BSD-3-Clause
"""How a word of the command line is refused: what, the value, what is accepted, in one line."""

from __future__ import annotations

from collections.abc import Iterable


class BadValue(ValueError):
    """A value that is not accepted.  Its handler puts the name of the option before the text."""


def shown(text: str) -> str:
    """Returns a value for a message: unchanged if it is printable, else quoted."""
    return text if text and text.isprintable() else repr(text)


def hint(word: str, known: Iterable[str], otherwise: str) -> str:
    """Returns a hint with the nearest known word, or `otherwise` if none is near."""
    import difflib  # takes longer to import than most commands need it

    near = difflib.get_close_matches(word, known, 1)
    return f"did you mean {near[0]}?" if near else otherwise


def argument(text: str, accepted: str, why: str = "not possible") -> BadValue:
    return BadValue(f"{shown(text)}: {why} (accepted: {accepted})")
