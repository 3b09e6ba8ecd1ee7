# SPDX-License-Identifier: BSD-3-Clause
"""Bad settings, in the library's answer about settings."""

from __future__ import annotations

import os
from typing import Any

from . import validators
from .exit_status import BAD_USE
from .layout import CliError, Layout

SECRET = "HUDDLE_JOB"


def lines(answer: dict[str, Any]) -> list[str]:
    """Returns the complaints of an answer, none if all settings are valid."""
    if not answer["error"]:
        return []
    return [f"{answer['error']}: huddle handles no calls", *answer["more_errors"]]


def refuse(layout: Layout, **environment: Any) -> None:
    """
    Raises CliError for a bad setting, before a command starts jobs in which huddle would handle no
    calls.  environment: further variables of the jobs.
    """
    found = lines(layout.ask("info", "settings", **environment))
    if found:
        more = f" ({len(found) - 1} more: huddle settings)" if len(found) > 1 else ""
        raise CliError(found[0] + more, BAD_USE)


def rejected(row: dict[str, Any]) -> str | None:
    """
    Returns the value of a setting in the environment if the library does not accept it, or None.
    """
    given = os.environ.get(row["name"])
    return given if given and row["origin"] == "default" and row["name"] != SECRET else None


def value_of(row: dict[str, Any]) -> str:
    given = rejected(row)
    return str(row["value"]) if given is None else f"{validators.shown(given)} (not accepted)"


def origin_of(row: dict[str, Any]) -> str:
    return str(row["origin"]) if rejected(row) is None else "environment"
