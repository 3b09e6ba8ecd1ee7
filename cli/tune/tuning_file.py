# SPDX-License-Identifier: BSD-3-Clause
"""
The tuning file: where it goes, what may be overwritten, how it is written (src/core/choose/rules.h
says what its lines mean).
"""

import json
import os
import time
from collections import namedtuple

from ..common import places
from ..common.layout import Trouble
from ..common.network import usual
from ..common.sizes import written
from ..common.text import bytes_text
from ..common.transfers import CLASSES

MARK = "# Written by 'huddle tune"

# ranks: text of a range; max_bytes None: no end; min_bytes None: the collective has no bytes.
# figures: size -> Figure, as measured last.
Rule = namedtuple("Rule", "collective team ranks candidate min_bytes max_bytes figures line_ns")


def place(layout, options):
    """
    Where the file goes: by --output, which must be in a directory that is there, or to a usual
    place, whose directory is made.
    """
    if options.output is None:
        path = usual(layout, options.site)
        make_folder(path)
        return path
    if not options.output:
        raise Trouble("tune: --output: the name of the file is missing", 2)
    return os.path.abspath(options.output)


def cannot(path, why, option="--output"):
    return Trouble(f"{path} cannot be written: {why} (another place: {option} FILE)")


def make_folder(path, option="--output"):
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    except OSError as error:
        raise cannot(path, f"{error.filename}: {error.strerror}", option) from error


def is_ours(path):
    """There is none, or tune wrote it."""
    if not os.path.exists(path):
        return True
    with open(path, encoding="utf-8", errors="replace") as file:
        return MARK.lstrip("# ") in file.read(4096)


def check_place(path, force, option="--output"):
    """Checks before the measurements that the file can be written, and that tune wrote it."""
    why = places.why_not(path, replaced=True)
    if why:
        raise cannot(path, why, option)
    if not force and os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            if not file.readline().startswith(MARK):
                raise Trouble(
                    f"{path} was not written by 'huddle tune'; it is not overwritten (accepted:"
                    f" --force; another place: {option} FILE)"
                )


def ranks_texts(teams):
    """
    Each number of ranks stands for those up to the next that was measured: {team: "4-7"};
    oversubscribed teams among themselves.
    """
    texts = {}
    for oversubscribed in (False, True):
        counts = [team.ranks for team in teams if team.oversubscribed == oversubscribed]
        for team in teams:
            if team.oversubscribed == oversubscribed:
                more = [count for count in counts if count > team.ranks]
                first = 2 if oversubscribed and team.ranks == min(counts) else team.ranks
                texts[team] = f"{first}-{min(more) - 1}" if more else f"{first}-"
    return texts


def us(ns):
    return f"{ns / 1000:.2f} us" if ns < 1e5 else f"{ns / 1000:.0f} us"


def place_text(team):
    return (
        f"{team.ranks} ranks,"
        f" {'more than cores, unbound' if team.oversubscribed else 'bound to cores in turn'}"
    )


def values_text(candidate):
    return ", ".join(f"{v.name} {v.word}" for v in candidate.values)


def figure_text(figure):
    """As measured."""
    count = f"{figure.launches} launch{'es' if figure.launches != 1 else ''}"
    loop = (
        f", back to back {figure.loop_ns / figure.own_loop_ns:.2f}"
        if figure.loop_ns and figure.own_loop_ns
        else ""
    )
    return (
        f"{us(figure.own_ns)} without this rule, {us(figure.ns)} with it; ratio {figure.ratio:.2f}"
        f" ({figure.low:.2f} to {figure.high:.2f} in {count}){loop}"
    )


def measured_text(rule):
    """A text for each size that was measured."""
    return [
        f"{bytes_text(size) + ': ' if rule.min_bytes is not None else ''}{figure_text(figure)}"
        for size, figure in sorted(rule.figures.items())
        if figure.ns
    ]


def line_text(line_ns):
    if not line_ns:
        return ""
    name = next(name for name, below in CLASSES if line_ns < below)
    return f"; line transfer {line_ns:.0f} ns ({name})"


def rule_lines(rule):
    lines = [
        f"# {rule.collective}, {place_text(rule.team)}{line_text(rule.line_ns)}",
        *(f"#   {text}" for text in measured_text(rule)),
        f"[[{rule.collective}]]",
        f"ranks = \"{rule.ranks}\"",
        f"oversubscribed = {'true' if rule.team.oversubscribed else 'false'}",
    ]
    if rule.team.within:
        lines.append(f"within = \"{rule.team.within}\"")
    if rule.min_bytes is not None and (rule.min_bytes or rule.max_bytes is not None):
        end = written(rule.max_bytes) if rule.max_bytes is not None else ""
        lines.append(f"bytes = \"{written(rule.min_bytes)}-{end}\"")
    return [
        *lines,
        f"algorithm = \"{rule.candidate.algorithm}\"",
        *(f"{v.name} = \"{v.word}\"" for v in rule.candidate.values),
        "",
    ]


def rules_text(path):
    """The rules of a file, with the comments that are right above them, as they are."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    found, comments, inside = [], [], False
    for line in lines:
        if line.lstrip().startswith("["):
            inside = line.lstrip().startswith("[[")
            found += comments if inside else []
        if line.lstrip().startswith("#"):
            comments.append(line)
            continue
        if inside:
            found += comments if comments and not line.lstrip().startswith("[") else []
            found.append(line)
        comments = []
    return "\n".join(found)


def text(rules, facts, command, base=None):
    """
    The file's text.  facts: version, processors, cpu, line (text).  base: a file whose rules
    follow.
    """
    head = [
        (
            f"{MARK}'.  Above each rule is what was measured: median times of single shots from a"
            " common start, of the slowest rank."
        ),
        (
            "# A ratio is the time with the rule divided by the time without it, as the mean of"
            " single shots and calls back to back; 'back to back' is the ratio of these alone."
        ),
        (
            f"# {time.strftime('%Y-%m-%d %H:%M')}, huddle {facts['version']},"
            f" {facts['cpu'] or 'processors without a name'}, {facts['processors']}"
            f" processors{facts['line']}"
        ),
        f"# {command}",
        (
            "# The built-in table serves calls that match no rule: no other choice was reliably"
            " better there, or none was measured."
        ),
        "",
        "[machine]",
        f"processors = {facts['processors']}",
        *([f"cpu = {json.dumps(facts['cpu'])}"] if facts["cpu"] else []),
        "",
    ]
    lines = [*head, *(line for rule in rules for line in rule_lines(rule))]
    if base:
        lines += [f"# What follows is from {json.dumps(base)}.", rules_text(base)]
    return "\n".join(lines)


def network_text(path):
    """[network] of a file, with the comments right above it; "" if it has none."""
    if not os.path.exists(path):
        return ""
    comments, found, inside = [], [], False
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file.read().split("\n"):
            if line.startswith("["):
                inside = line.strip() == "[network]"
                found += comments if inside else []
            comments = [*comments, line] if line.startswith("#") else []
            if inside and line.strip() and not line.startswith("#"):
                found.append(line)
    return "\n".join([*found, ""]) if found else ""


def write(path, content):
    """[network], which --network has measured, stays."""
    kept = network_text(path)
    places.write(
        path,
        f"{content}\n{kept}" if kept else content,
        "; what was measured is kept, the same command goes on with it",
    )


def check_reads(layout, path):
    """Checks that the library accepts the file."""
    error = layout.tuning_error(path)
    if error:
        raise Trouble(
            "the library does not accept the file that was written:"
            f" {error.removeprefix('HUDDLE_TUNING=')}; please report it"
        )
