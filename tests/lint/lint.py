# SPDX-License-Identifier: BSD-3-Clause
"""
lint.py NAME ROOT [BUILD] - runs one lint; every complaint is a line.  Exit status: 0, 1 complaints,
77 cannot be decided here.
"""

import sys

import docs
import form
import imports
import includes
import layout
import python
import subjects
import tokens
import words

LINTS = {
    "includes": includes.check,
    "imports": imports.check,
    "tokens": tokens.check,
    "form": form.check,
    "layout": layout.check,
    "python": python.check,
    "docs": docs.check,
    "words": words.check,
    "subjects": subjects.check,
}


def main(name, *where):
    try:
        complaints = LINTS[name](*where)
    except layout.Skip as why:
        print(why)
        return 77
    print("\n".join(complaints) or f"{name}: nothing to complain about")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(*sys.argv[1:]))
