# SPDX-License-Identifier: BSD-3-Clause
"""The rows of src/core/choose/builtin.toml, as text."""

import re
import tomllib

TIE = 1.05  # times the fastest one's: as good
CALLS = (  # keys of a row that say which calls it serves
    "ranks bytes oversubscribed direct quick intel divided within fallback second".split()
)
KEYS = (*CALLS, "evidence", "like", "holds", "cheaper_than")  # all but its algorithm's
SERIES = ("evidence", "like")  # what a row names: series of such calls, or of others


def series_of(row):
    """The numbers that a row names."""
    return next((row[key] for key in SERIES if key in row), "").split()


def naming(block, key):
    """The block whose series are called by that one of SERIES."""
    return re.sub(rf"(?m)^({'|'.join(SERIES)}) = ", f"{key} = ", block)


def blocks_of(text):
    """The table's rows as text, comments between them included."""
    return text.split("\n\n")


def row_of(block):
    """(collective, keys) of a block, or None."""
    table = tomllib.loads(block)
    return next(((name, rows[0]) for name, rows in table.items()), None)


def algorithm_of(row):
    """'tree tree=nested fragment=4K' as in the data."""
    parameters = [f"{key}={value}" for key, value in row.items() if key not in (*KEYS, "algorithm")]
    return " ".join([row["algorithm"], *parameters])


def line_of(key, value):
    return f"{key} = {value}" if str(value).isdigit() else f'{key} = "{value}"'


def same_algorithm(one, other):
    return sorted(one.split()) == sorted(other.split())


def rewritten(block, algorithm, holds=None):
    """
    The block with that algorithm.  holds: of a simulated row, whose series speak only of the
    algorithm that it had.
    """
    name, *parameters = algorithm.split()
    kept = [line for line in block.split("\n") if line.split(" = ")[0] in KEYS or line[:1] in "[#"]
    head = [line for line in kept if not line.startswith((*SERIES, "holds"))]
    same = holds is None or same_algorithm(algorithm_of(row_of(block)[1]), algorithm)
    evidence = [line for line in kept if same and line.startswith(SERIES)]
    pairs = [parameter.split("=") for parameter in parameters]
    own = [line_of("algorithm", name), *(line_of(key, value) for key, value in pairs)]
    end = [line_of("holds", holds)] if holds else []
    return "\n".join([*head, *own, *evidence, *end])
