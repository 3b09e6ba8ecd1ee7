# SPDX-License-Identifier: BSD-3-Clause
"""The exit statuses of all commands.  Equal faults have equal statuses in all of them."""

from __future__ import annotations

DONE, FAILED, BAD_USE = 0, 1, 2

MEANINGS = {
    DONE: "the command has done its work",
    FAILED: "the work failed, or a check did not pass",
    BAD_USE: "an argument, a file that an argument names, or a setting is not accepted; nothing was"
    " done",
}
# See stop.status_of() for signals.
HELP = (
    f"Exit status: {'; '.join(f'{status}: {text}' for status, text in MEANINGS.items())}; 128 and"
    " the number of a signal: the signal ended the command. huddle run and huddle profile end with"
    " the status of the command that they run."
)
