# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of bytes as users write them."""

from __future__ import annotations

import re

from . import validators

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def number(text: str) -> int:
    """Parses a size: '64K' -> 65536."""
    found = re.fullmatch(r"([0-9]{1,18})([KMG]?)I?B?", text.strip().upper())
    if not found:
        raise validators.argument(text, "a whole number, with K, M or G: 8, 64K, 1M", "not a size")
    return int(found[1]) * UNITS[found[2]]


def written(count: int) -> str:
    """Formats a size as settings and tuning files do: 65536 -> '64K'."""
    for unit in "GMK":
        if count and count % UNITS[unit] == 0:
            return f"{count // UNITS[unit]}{unit}"
    return str(count)
