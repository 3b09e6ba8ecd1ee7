# SPDX-License-Identifier: BSD-3-Clause
"""
lint.py NAME ROOT [BUILD] - runs one lint; every complaint is a line.

Exit status: 0; 1 with complaints; 2 for wrong arguments; 77 if the lint cannot decide on this
machine.
"""

import sys

import comments
import form
import heads
import imports
import includes
import links
import rooms
import subjects
import tokens
import tree
import words

import docs
import tools

LINTS = {
    "includes": includes.check,
    "rooms": rooms.check,
    "imports": imports.check,
    "comments": comments.check,
    "tokens": tokens.check,
    "form": form.check,
    "heads": heads.check,
    "links": links.check,
    "tools": tools.check,
    "docs": docs.check,
    "words": words.check,
    "subjects": subjects.check,
}
NEEDS_BUILD = ("tools", "docs")


def wrong_arguments(name=None, *where):
    """Returns what is wrong with the arguments, or None."""
    if name not in LINTS:
        return f"no lint {name} (accepted: {', '.join(LINTS)})"
    wanted = ("ROOT", "BUILD") if name in NEEDS_BUILD else ("ROOT",)
    if len(where) < len(wanted):
        return f"{wanted[len(where)]} is missing: lint.py {name} {' '.join(wanted)}"
    return None


def main(*arguments):
    if wrong := wrong_arguments(*arguments):
        print(f"lint.py: {wrong}")
        return 2
    name, root, *build = arguments
    try:
        complaints = LINTS[name](root, *build[: name in NEEDS_BUILD])
    except tree.Skip as why:
        print(why)
        return 77
    print("\n".join(complaints) or f"{name}: nothing to complain about")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(*sys.argv[1:]))
