# SPDX-License-Identifier: BSD-3-Clause
"""
SIGTERM and SIGHUP end a command as Ctrl-C does: by an exception, so that jobs are ended and folders
removed on the way out.
"""

from __future__ import annotations

import signal
from typing import Any


class Terminated(KeyboardInterrupt):
    """Its argument is the signal."""


def raise_once(number: int, _frame: Any) -> None:
    """Raises Terminated, and ignores later signals so that they do not interrupt the clean-up."""
    signal.signal(number, signal.SIG_IGN)
    raise Terminated(number)


def listen() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # ignored, for example under nohup
            signal.signal(number, raise_once)


def signal_of(interrupt: Any) -> Any:
    return interrupt.args[0] if isinstance(interrupt, Terminated) else signal.SIGINT


def status_of(interrupt: Any) -> int:
    """Returns the exit status for the signal: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + signal_of(interrupt)


def name_of(interrupt: Any) -> str:
    number = signal_of(interrupt)
    return "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
