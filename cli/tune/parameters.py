# SPDX-License-Identifier: BSD-3-Clause
"""
What huddle tune tries: each algorithm with its presets, and with one other value of each parameter,
with those of others if it does nothing alone.  Values that are good alone are tried together later.
All combinations at once would take most of the time for the algorithm with the most parameters.
"""

from collections import defaultdict

from ..common.candidates import Candidate, Value, settings_text, values
from ..common.sizes import number, written

# Tried as well as what a parameter lists: where memory is divided in another way than the table
# does, a window of another size may be the better one.
MORE = {"budget": "64K,512K,1M", "fragment": "128K", "tile": "64K"}


def built_in(layout, collective, teams):
    """{team: {(algorithm, parameter): values}} of the built-in table, at any size."""
    last = str(max(team.ranks for team in teams))
    answer = layout.ask("choices", collective, "2", last, "core", HUDDLE_TUNING="off")
    found = {team: defaultdict(set) for team in teams}
    for team in teams:
        for band in answer["bands"]:
            if not band["min_ranks"] <= team.ranks <= band["max_ranks"]:
                continue
            for piece in band["pieces"]:
                serves = piece["serves"] or {"parameters": {}}
                for name, value in serves["parameters"].items():
                    found[team][serves["algorithm"], name].add(value)
    return found


def lease_bytes(settings):
    """What one team uses of an arena at most; None: it has no limit of its own."""
    value = next(row["value"] for row in settings if row["name"] == "HUDDLE_LEASE")
    return None if value == "auto" else number(value)


def more_values(parameter, rows=()):
    """
    Those of MORE and of rows, the built-in table's values, that the parameter can have and does
    not list.
    """
    listed = [number(word) for word in parameter["tune"].split(",") if word]
    words = filter(None, MORE.get(parameter["name"], "").split(","))
    for bytes_ in sorted({*map(number, words), *rows}):
        fits = parameter["min"] <= bytes_ <= parameter["max"]
        if fits and bytes_ != parameter["default"] and bytes_ not in listed:
            yield Value(parameter["name"], written(bytes_), bytes_)


def fits_lease(value, lease):
    """A window that is larger than the lease would be that of another value."""
    return value.name != "budget" or lease is None or value.bytes <= lease


def with_others(value, parameter):
    """A value, and those of other parameters without which it does nothing."""
    pairs = (pair.partition("=") for pair in parameter["tune_with"].split())
    return tuple(sorted([value, *(Value(name, word, number(word)) for name, _, word in pairs)]))


def singles(algorithms, collective, ranks, baselines=False, table=None, lease=None):
    """
    Candidates that differ from the presets in one parameter at most, and in those that go with it.
    table: what built_in() has for the team; lease: lease_bytes().
    """
    found = []
    for algorithm in algorithms:
        if algorithm["collective"] != collective or (algorithm["baseline"] and not baselines):
            continue
        found.append(Candidate(collective, algorithm["name"], ()))
        for parameter in algorithm["parameters"]:
            tried = [value for value in values(parameter, ranks) if value]
            if parameter["unit"] == "B":
                rows = (table or {}).get((algorithm["name"], parameter["name"]), ())
                tried += more_values(parameter, rows)
                tried = [value for value in tried if fits_lease(value, lease)]
            found += [
                Candidate(collective, algorithm["name"], with_others(value, parameter))
                for value in tried
            ]
    return found


def joined(one, other):
    """One candidate with the values of both; None: other algorithms, or the same parameter."""
    names = {value.name for value in one.values}
    if one.algorithm != other.algorithm or not one.values or not other.values:
        return None
    if any(value.name in names for value in other.values):
        return None
    return one._replace(values=tuple(sorted(one.values + other.values)))


def combinations(candidates):
    """Of candidates, best first: pairs of values, each pair once."""
    found = {}
    for i, one in enumerate(candidates):
        for other in candidates[i + 1 :]:
            both = joined(one, other)
            if both:
                found.setdefault(settings_text(both), both)
    return list(found.values())
