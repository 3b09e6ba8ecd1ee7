# SPDX-License-Identifier: BSD-3-Clause
"""The result of huddle tune, as a table."""

from ..common.text import heading, table
from . import stats, tuning_file

HEADERS = ["collective", "ranks", "where", "bytes", "algorithm", "parameters", "time"]


def where_text(team):
    if team.oversubscribed:
        return "oversubscribed, unbound"
    return f"cores in turn{', one ' + team.within if team.within else ''}"


def range_text(low, high):
    if low is None:
        return ""
    return f"{tuning_file.written(low)}-{'' if high is None else tuning_file.written(high)}"


def cells(rule):
    return [
        rule.collective,
        rule.ranks,
        where_text(rule.team),
        range_text(rule.min_bytes, rule.max_bytes),
        rule.candidate.algorithm,
        tuning_file.values_text(rule.candidate),
        f"{100 * (stats.gain(rule.figures.values()) - 1):+.0f} %",
    ]


def show(campaign, rules, dropped):
    heading(
        "Better than the built-in table"
        if rules
        else "No choice is reliably better than the built-in table by 5 % or more."
    )
    if rules:
        table(HEADERS, [cells(rule) for rule in rules], right=(6,))
    if dropped:
        print(f"  {dropped} other rule(s) looked better alone, but not together with these.")
    for note in sorted(set(campaign.notes)):
        print(f"  {note}")
