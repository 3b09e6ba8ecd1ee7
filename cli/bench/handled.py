# SPDX-License-Identifier: BSD-3-Clause
"""
Counts which calls huddle handles.  This is a separate launch of the measuring program, since
counting costs time.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from typing import Any

from ..common import jobs

# One call of each size, and another if a rank was late.
ONCE = ("--min", "1", "--max", "1", "--warmups", "0", "--figure-ms", "1000")


def count(launch: Callable[..., Any], names: list[str]) -> dict[str, dict[str, Any]]:
    """
    Starts the program by launch(environment).  Returns {collective: {"handled": calls, "passed":
    {reason: calls}}} of these collectives.  Raises JobFailed if huddle was not in the program or
    handled no call.  Open MPI counts one more call, its own.
    """
    with tempfile.TemporaryDirectory(prefix="huddle-") as scratch:
        file = os.path.join(scratch, "statistics.json")
        launch({"HUDDLE_STATS": "json:" + file})
        try:
            with open(file, encoding="utf-8") as written:
                counts = json.load(written)["collectives"]
        except OSError as error:
            raise jobs.JobFailed("huddle was not in the program: it wrote no statistics") from error
    counts = {name: counts[name] for name in names}
    if not any(row["handled"] for row in counts.values()):
        reasons = sorted({why for row in counts.values() for why in row["passed"]})
        why = ", ".join(reasons) or "none was made"
        raise jobs.JobFailed(f"huddle handled no call ({why})")
    return counts
