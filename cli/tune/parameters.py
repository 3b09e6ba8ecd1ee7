# SPDX-License-Identifier: BSD-3-Clause
"""
What huddle tune tries: each algorithm with its presets, and with one other value of each parameter.
Values that are good alone are tried together later.  All combinations at once would take most of
the time for the algorithm with the most parameters.
"""

from ..common.candidates import Candidate, Value, settings_text, values
from ..common.sizes import number

# Tried as well as what a parameter lists: where memory is divided in another way than the table
# does, a window of another size may be the better one.
MORE = {"budget": "64K,512K,1M", "fragment": "128K", "tile": "64K"}


def more_values(parameter):
    """Those of MORE that the parameter can have and does not list."""
    listed = parameter["tune"].split(",")
    for word in filter(None, MORE.get(parameter["name"], "").split(",")):
        bytes_ = number(word)
        fits = parameter["min"] <= bytes_ <= parameter["max"]
        if fits and bytes_ != parameter["default"] and word not in listed:
            yield Value(parameter["name"], word, bytes_)


def singles(algorithms, collective, ranks, baselines=False):
    """Candidates that differ from the presets in one parameter at most."""
    found = []
    for algorithm in algorithms:
        if algorithm["collective"] != collective or (algorithm["baseline"] and not baselines):
            continue
        found.append(Candidate(collective, algorithm["name"], ()))
        for parameter in algorithm["parameters"]:
            tried = [value for value in values(parameter, ranks) if value]
            if parameter["unit"] == "B":
                tried += more_values(parameter)
            found += [Candidate(collective, algorithm["name"], (value,)) for value in tried]
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
