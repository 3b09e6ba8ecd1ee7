# SPDX-License-Identifier: BSD-3-Clause
"""
Cases of all collectives in a random order (soak.c), with each value of HUDDLE_LINES, with and
without HUDDLE_CHECK.  The program prints its seed and the failing call, and is repeated with
`--seed`.
"""

from cases import ALL, BOTH, NONBLOCKING, Case

CHECKED = {"HUDDLE_CHECK": "on", "HUDDLE_CHECK_TIMEOUT": "60"}
WORDS = ("auto", "kept", "nontemporal", "returned", "both")


def soak(ranks, lines, checked, mpis, words, **more):
    name = f"{ranks} ranks, lines {lines}" + (", checked" if checked else "")
    env = {"HUDDLE_LINES": lines, **(CHECKED if checked else {})}
    command = ["{bin}/soak", "--beyond", *words]
    return Case("soak", name, mpis, ranks, command, env=env, **{**NONBLOCKING, **more})


# Each number of ranks, with and without the check, and each value.
SHORT = (
    (2, "auto", False),
    (2, "nontemporal", True),
    (3, "returned", False),
    (3, "kept", True),
    (4, "auto", True),
    (4, "both", False),
    (8, "auto", False),
    (8, "returned", True),
)

SOAKS = [
    # On a busy machine some collectives are not drawn in this time.
    *[soak(*row, BOTH, ["--brief", "--seconds", "2"], seconds=60, collectives=[]) for row in SHORT],
    *[
        soak(
            ranks,
            lines,
            (at + half) % 2 == 0,
            ALL,
            ["--seconds", "20", "--seed", "{seed}"],
            seconds=300,
            full=True,
        )
        for half, ranks in enumerate((2, 3, 4, 8))
        for at, lines in enumerate(WORDS)
    ],
]
