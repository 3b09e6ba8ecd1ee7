# SPDX-License-Identifier: BSD-3-Clause
"""The result of huddle tune, as tables."""

from ..common.sizes import written
from ..common.text import heading, table
from . import needed, stats, tuning_file
from .results import grouped, means

RULES = ["collective", "ranks", "where", "bytes", "algorithm", "parameters", "time"]
SIZES = ["collective", "ranks", "bytes", "before", "after", "ratio", "back to back"]
PEERS = ["best peer", "its time", "after to it"]
MEANS = ["collective", "ranks", "sizes", "after to before"]


def where_text(team):
    if team.oversubscribed:
        return "oversubscribed, unbound"
    return f"cores in turn{', one ' + team.within if team.within else ''}"


def range_text(low, high):
    if low is None:
        return ""
    return f"{written(low)}-{'' if high is None else written(high)}"


def rule_row(rule):
    return [
        rule.collective,
        rule.ranks,
        where_text(rule.team),
        range_text(rule.min_bytes, rule.max_bytes),
        rule.candidate.algorithm,
        tuning_file.values_text(rule.candidate),
        f"{100 * (stats.mean_ratio(rule.figures.values()) - 1):+.0f} %",
    ]


def ranks_text(team):
    return f"{team.ranks}{' oversubscribed' if team.oversubscribed else ''}"


def size_row(result, peers):
    cell = result.cell
    row = [
        cell.collective,
        ranks_text(cell.team),
        written(cell.size) if cell.size else "",
        tuning_file.us(result.before),
        tuning_file.us(result.after),
        f"{result.after / result.before:.2f}",
        f"{result.loop:.2f}" if result.loop else "",
    ]
    if not peers:
        return row
    if not result.peer_ns:
        return [*row, "", "", ""]
    ratio = f"{result.after / result.peer_ns:.2f}"
    return [*row, result.peer, tuning_file.us(result.peer_ns), ratio]


def show_sizes(found):
    """Those that a rule serves, or that were compared with other MPIs."""
    peers = any(result.peer_ns for result in found)
    rows = [size_row(r, peers) for r in found if r.ruled or r.peer_ns]
    if rows:
        heading("Time of a call, by size")
        table(SIZES + (PEERS if peers else []), rows, right=(3, 4, 5, 6, 8, 9))


def show_means(found):
    rows = []
    for (team, collective), some in grouped(found).items():
        own, peer = means(some)
        rows.append([collective, ranks_text(team), str(len(some)), f"{own:.2f}"])
        rows[-1] += [f"{peer:.2f}"] if peer else [""]
    heading("Geometric means over all sizes")
    peers = any(row[-1] for row in rows)
    headers = [*MEANS, "after to best peer"] if peers else MEANS
    table(headers, [row if peers else row[:-1] for row in rows], right=(2, 3, 4))


def sizes_text(cells):
    """The sizes of each collective and team, in a few words."""
    found = {}
    for cell in cells:
        key = f"{cell.collective} ({ranks_text(cell.team)} ranks)"
        found.setdefault(key, []).append(written(cell.size) if cell.size else "")
    return "; ".join(
        f"{key} {', '.join(sizes[:6])}{', ...' if len(sizes) > 6 else ''}".rstrip()
        for key, sizes in found.items()
    )


def missing_of(campaign):
    """How many sizes were not measured."""
    return sum(not campaign.state.has(cell) for cell in campaign.cells())


def minutes_needed(campaign):
    """Text for --minutes."""
    sizes, missing = len(campaign.cells()), missing_of(campaign)
    return needed.text(needed.for_choices(campaign.minutes, sizes, missing, len(campaign.teams)))


def why_nothing(campaign):
    """Why no size at all was measured, and what to do, in one line; None: some were."""
    if missing_of(campaign) < len(campaign.cells()):
        return None
    over = f"the time was over; try --minutes {minutes_needed(campaign)}"
    why = campaign.failures[0] if campaign.failures else over
    return f"tune: no size was measured, and no file is written: {why}"


def show_undecided(campaign, undecided, left):
    """What the time was too short for, and what would suffice; what did not hold."""
    sizes, missing = len(campaign.cells()), missing_of(campaign)
    minutes = minutes_needed(campaign)
    if missing:
        print(
            f"  Not measured, the time was over: {missing} of {sizes} size(s)."
            "  Their neighbours' rules serve them."
        )
    if undecided:
        print(
            f"  Not decided, the time was over: {len(undecided)} size(s), where a candidate may be"
            f" better: {sizes_text([contest.cell for contest in undecided])}."
        )
    if left.undecided:
        print(
            f"  Not decided in the final measurement of all rules: {len(left.undecided)} size(s),"
            f" where a candidate was faster alone: {sizes_text(left.undecided)}."
        )
    if left.lost:
        print(
            f"  {left.lost} other {'rule was' if left.lost == 1 else 'rules were'} faster alone,"
            " but not in the final measurement of all rules."
        )
    if undecided or missing or left.undecided:
        print(f"  More time decides more: --minutes {minutes}.")


def title(campaign, rules):
    what = f"the rules of {campaign.base}" if campaign.base else "the built-in table"
    if rules:
        return f"Better than {what}"
    return f"No choice is reliably better than {what} by 5 % or more."


def show(campaign, rules, found, undecided, left):
    """undecided: contests; left: what the last measurement left out."""
    heading(title(campaign, rules))
    if rules:
        table(RULES, [rule_row(rule) for rule in rules], right=(6,))
    show_sizes(found)
    if rules or any(result.peer_ns for result in found):
        show_means(found)
    print()
    show_undecided(campaign, undecided, left)
    for note in sorted(set(campaign.notes)):
        print(f"  {note}")
