# SPDX-License-Identifier: BSD-3-Clause
"""
SIGTERM and SIGHUP end a command as Ctrl-C does: by an exception, so that jobs are ended and folders
removed on the way out.
"""

import signal


class Terminated(KeyboardInterrupt):
    """Its argument is the signal."""


def raise_once(number, _frame):
    """Later signals do not interrupt the clean-up."""
    signal.signal(number, signal.SIG_IGN)
    raise Terminated(number)


def listen():
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # ignored, for example under nohup
            signal.signal(number, raise_once)


def signal_of(interrupt):
    return interrupt.args[0] if isinstance(interrupt, Terminated) else signal.SIGINT


def status_of(interrupt):
    """The exit status for the signal: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + signal_of(interrupt)


def name_of(interrupt):
    number = signal_of(interrupt)
    return "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
