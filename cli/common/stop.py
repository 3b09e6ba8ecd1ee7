# SPDX-License-Identifier: BSD-3-Clause
"""
SIGTERM and SIGHUP end a command as Ctrl-C does: by an exception, so that jobs are ended and folders
removed on the way out.
"""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable
from typing import Any

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """The arrival of a signal that ends the process.  The argument is the signal."""


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


def start(command: list[str], **options: Any) -> tuple[subprocess.Popen[Any], Callable[[], None]]:
    """
    Starts a process, and holds signals back from then on.  A signal during Popen would leave a
    process behind.  Returns the process, and a function for letting the signals through.  Call
    start() inside the `try` that ends the process.
    """
    held: list[int] = []
    before: dict[int, Any] = {}

    def listen_again() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)
        if held:
            signal.raise_signal(held[0])

    # Python calls handlers in the main thread, whichever thread the system interrupts.
    if threading.current_thread() is threading.main_thread():
        for number in NUMBERS:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):  # else inherited
                before[number] = signal.signal(number, lambda number, _frame: held.append(number))
    try:
        job = subprocess.Popen(command, **options)
    except BaseException:
        listen_again()
        raise
    return job, listen_again
