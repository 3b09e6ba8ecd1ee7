# SPDX-License-Identifier: BSD-3-Clause
"""How a word of the command line is refused: what, the value, what is accepted, in one line."""

import argparse


def shown(text):
    """A value in a line: as it is, if it can be seen."""
    return text if text and text.isprintable() else repr(text)


def argument(text, accepted, why="not possible"):
    """The error of a type for argparse, which adds the option's name."""
    return argparse.ArgumentTypeError(f"{shown(text)}: {why} (accepted: {accepted})")
