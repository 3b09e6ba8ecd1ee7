# SPDX-License-Identifier: BSD-3-Clause
"""
The parser of all commands.  What argparse says about a bad word becomes huddle's form of an error,
by a table of its wordings.  A wording that is not in the table is kept.
"""

import argparse
import difflib
import re
import shutil
import sys

from . import refused
from .layout import Trouble

NAMED = r"argument (?:[^ ]*/)?([^ /:]+): "  # of several names the last, which is the longest


def unquoted(text):
    return re.sub(r"^(['\"])(.*)\1$", r"\2", text)


def bad_choice(found):
    accepted = ", ".join(unquoted(word) for word in found[3].split(", "))
    return f"{found[1]} {unquoted(found[2])}: not possible (accepted: {accepted})"


# argparse's wordings, and huddle's.
WORDINGS = (
    (NAMED + r"invalid choice: (.*) \(choose from (.*)\)", bad_choice),
    (NAMED + r"(.*\(accepted: .*)", r"\1 \2"),  # a type of huddle's (refused.py)
    (NAMED + r"invalid \w+ value: (.*)", lambda m: f"{m[1]} {unquoted(m[2])}: not possible"),
    (NAMED + r"expected .*", r"\1: the value is missing"),
    (NAMED + r"ignored explicit argument .*", r"\1: takes no value"),
    (
        NAMED + r"not allowed with argument (?:.*/)?(.*)",
        r"\1: not with \2 (accepted: one of the two)",
    ),
    (r"the following arguments are required: (.*)", r"\1 is missing"),
)


def huddles(message):
    """An error of argparse in huddle's words."""
    for pattern, words in WORDINGS:
        found = re.fullmatch(pattern, message, re.DOTALL)
        if found:
            return words(found) if callable(words) else found.expand(words)
    return message


class Parser(argparse.ArgumentParser):
    """takes_command: words after -- are the user's."""

    takes_command = False

    def print_help(self, file=None):
        """argparse's own ignores that it cannot be written."""
        (file or sys.stdout).write(self.format_help())

    def parse_known_args(self, args=None, namespace=None):
        """argparse calls this for a command, and would keep what is too much."""
        options, rest = super().parse_known_args(args, namespace)
        if rest:
            self.refuse(rest[0])
        return options, rest

    def error(self, message):
        text = huddles(message)
        where = "" if "(accepted: " in text else f"; see {self.prog} --help"
        raise Trouble(text + where, 2)

    def refuse(self, word):
        """A word that is no option of this command, or one too many."""
        if word.startswith("-"):
            name = word.partition("=")[0]
            near = difflib.get_close_matches(name, self._option_string_actions, 1)
            hint = f"did you mean {near[0]}?" if near else f"see {self.prog} --help"
            raise Trouble(f"no option of {self.prog}: {refused.shown(name)}; {hint}", 2)
        said = f"{self.prog} {refused.shown(word)}".removeprefix("huddle ")
        if self.takes_command and shutil.which(word):
            raise Trouble(f"{said}: -- is missing before the command (accepted: -- {word} ...)", 2)
        raise Trouble(f"{said}: a word too many; see {self.prog} --help", 2)
