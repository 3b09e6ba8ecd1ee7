# SPDX-License-Identifier: BSD-3-Clause
"""
The commands of huddle and their options, as the CLI's own parser has them.  `huddle run` is a C
program, and its options are those that its --help prints.
"""

import argparse
import importlib
import re
import sys
from collections import namedtuple

# groups: [(title, [Option])].  epilog: text; examples: it is laid out by hand.
Command = namedtuple("Command", "name help usage groups epilog laid_out")
# flags: () of a positional argument.  value: what follows it in help, or None.  optional: the value
# may be missing.  choices: the values that are accepted, () if any.  is_file: a path.
Option = namedtuple("Option", "flags value optional choices is_file help")

PATHS = ("FILE", "PLACE", "FOLDER", "DIR")


def is_path(value):
    return bool(value) and any(word in value for word in PATHS)


def value_of(parser, action):
    """As argparse shows it in the list of options."""
    if action.nargs == 0:
        return None
    formatter = parser._get_formatter()
    default = formatter._get_default_metavar_for_optional(action)
    return formatter._format_args(action, action.metavar or default)


def option_of(parser, action):
    value = value_of(parser, action)
    if not action.option_strings and not action.metavar:
        value = action.dest
    return Option(
        flags=tuple(action.option_strings),
        value=value,
        optional=action.nargs in ("?", "*"),
        choices=tuple(str(choice) for choice in action.choices or ()),
        is_file=is_path(value),
        help=(action.help or "") % dict(vars(action), prog=parser.prog),
    )


def command_of(name, words, parser):
    """From one argparse parser."""
    groups = []
    for group in parser._action_groups:
        shown = [a for a in group._group_actions if a.help != argparse.SUPPRESS]
        if shown:
            groups.append((group.title, [option_of(parser, action) for action in shown]))
    usage = re.sub(r"\s+", " ", parser.format_usage().partition(":")[2]).strip()
    laid_out = parser.formatter_class is argparse.RawDescriptionHelpFormatter
    return Command(name, words, usage, groups, parser.epilog or "", laid_out)


def run_of(words, printed):
    """From what `huddle run --help` prints: lines of flags, two spaces, and words."""
    options = []
    for line in printed.partition("\noptions:\n")[2].splitlines():
        found = re.fullmatch(r"  (-[^\s,]+(?:, -[^\s,]+)*)(?: (\[)?(\S+?)\]?)?\s{2,}(\S.*)", line)
        if not found:
            raise ValueError(f"huddle run --help: a line that is not an option: {line!r}")
        flags, optional, value, text = found.groups()
        options.append(
            Option(tuple(flags.split(", ")), value, bool(optional), (), is_path(value), text)
        )
    if not options:
        raise ValueError("huddle run --help: no options")
    usage = re.match(r"usage: (.*)", printed)[1]
    return Command("run", words, usage, [("options", options)], "", False)


def read(tools, run_help):
    """
    tools: the folder with huddle_cli.  run_help: what `huddle run --help` prints.  Returns the
    description of huddle, its own options, and its commands, in the order of its help.
    """
    sys.path.insert(0, tools)
    cli = importlib.import_module("huddle_cli.main")
    parser = cli.parser_of(None)
    own = [option_of(parser, a) for a in parser._actions if a.option_strings]
    commands = []
    for name, words in cli.COMMANDS.items():
        if name == "run":
            commands.append(run_of(words, run_help))
            continue
        group = cli.parser_of(name)._subparsers._group_actions[0]
        commands.append(command_of(name, words, group.choices[name]))
    return parser.description, own, commands


def settings(page):
    """Names in docs/settings.md, which is written from the library's table."""
    return re.findall(r"^\| `(HUDDLE\w*)` \|", page, re.MULTILINE)
