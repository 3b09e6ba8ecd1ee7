# SPDX-License-Identifier: BSD-3-Clause
"""
Times of calls with an MPI alone and with huddle, as `huddle tune --against` has measured them: a
table next to the tuning file, with which huddle was measured.  The library does not read it.
"""

import csv
import hashlib
import io
import math
import os
from collections import namedtuple

from .layout import Trouble

# mpi: as `huddle profile` names it.  bytes: as in a rule.  mpi_ns, huddle_ns: of the slowest rank.
Row = namedtuple("Row", "mpi collective ranks oversubscribed bytes mpi_ns huddle_ns launches")
# rows, and: when; huddle's version; cores, more ranks than which are oversubscribed; rules: a
# digest of the tuning file's; doubt: why they are not reliable, or SOUND.
Times = namedtuple("Times", "rows measured huddle cores rules doubt")
SOUND = "none"
FACTS = Times._fields[1:]
BOOLEANS = {"true": True, "false": False}


def place(tuning):
    """Where the times of a tuning file are."""
    base, end = os.path.splitext(tuning)
    return f"{tuning if end == '.csv' else base}.csv"


def rules_digest(tuning):
    """Of what the rules of a tuning file are, whatever comments they have."""
    found, inside = hashlib.sha256(), False
    with open(tuning, encoding="utf-8", errors="replace") as file:
        for line in map(str.strip, file):
            if line.startswith("["):
                inside = line.startswith("[[")
            if inside and line and not line.startswith("#"):
                found.update(f"{line}\n".encode())
    return found.hexdigest()[:16]


def text(times, head):
    """The file's text.  head: its first lines, for people."""
    out = io.StringIO()
    for line in [*head, *(f"{key} = {getattr(times, key)}" for key in FACTS)]:
        print(f"# {line}", file=out)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(Row._fields)
    for row in times.rows:
        over = "true" if row.oversubscribed else "false"
        ns = {key: f"{getattr(row, key):.0f}" for key in ("mpi_ns", "huddle_ns")}
        writer.writerow(row._replace(oversubscribed=over, **ns))
    return out.getvalue()


def row_of(fields):
    """ValueError, KeyError or TypeError: it is not a row."""
    raw = Row(*fields)
    row = raw._replace(
        ranks=int(raw.ranks),
        oversubscribed=BOOLEANS[raw.oversubscribed],
        bytes=int(raw.bytes),
        mpi_ns=float(raw.mpi_ns),
        huddle_ns=float(raw.huddle_ns),
        launches=int(raw.launches),
    )
    times = (row.mpi_ns, row.huddle_ns)
    if row.ranks < 2 or row.bytes < 0 or not all(ns > 0 and math.isfinite(ns) for ns in times):
        raise ValueError
    return row


def parse(content, path):
    """Trouble: the line that is not understood."""
    facts, rows = {}, []
    lines = content.split("\n")
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            key, equals, value = line[1:].partition(" = ")
            if equals and key.strip() in FACTS:
                facts[key.strip()] = value.strip()
        elif line and line != ",".join(Row._fields):
            try:
                rows.append(row_of(next(csv.reader([line]))))
            except (ValueError, KeyError, TypeError, csv.Error) as error:
                raise Trouble(
                    f"{path}:{number}: not understood (accepted: {','.join(Row._fields)})"
                ) from error
    missing = [key for key in FACTS if key not in facts]
    if missing or not facts["cores"].isdecimal():
        raise Trouble(
            f"{path}: not understood (accepted: a line '# {(missing or ['cores'])[0]} =')"
        )
    return Times(rows, **{**facts, "cores": int(facts["cores"])})


def read(path):
    """None: there is no such file.  Trouble: it cannot be read, or is damaged."""
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file.read(), path)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not valid UTF-8"
        raise Trouble(f"{path}: cannot be read: {why}") from error
