# SPDX-License-Identifier: BSD-3-Clause
"""Cases of run.py: communicators that span nodes learn (HUDDLE_WISDOM)."""

from dataclasses import replace

from cases import ALL, BOTH, CASES, NODES, RAGGED_NODES, SPANS, WISDOM, Case, as_node

SHORT_FRAGMENTS = {"HUDDLE_LAB_NODES_FRAGMENT": "256"}  # a broadcast of 256 messages loses
CUT = [f"rank {rank} of .* cannot continue its calls: message truncated" for rank in (2, 3)]


def learning(name, mpis, command, launch=NODES, env=None, **more):
    settings = {**SPANS, "env": {**SPANS["env"], **WISDOM, **(env or {})}}
    return Case("nodes", f"learned, {name}", mpis, 4, command, launch=launch, **settings, **more)


def with_wisdom(case):
    """Returns the case of nodes with trials."""
    return replace(case, name=f"{case.name}, learned", env={**case.env, **WISDOM})


LEARNED_SPANS = [
    *[
        learning(
            name,
            ALL,
            ["{bin}/learned"],
            launch=launch,
            env=SHORT_FRAGMENTS,
            passed="native collective faster",
            tried=True,
            collectives=("bcast",),
            again=name != "two nodes",
        )
        for name, launch in (("two nodes", NODES), ("three ragged ones", RAGGED_NODES))
    ],
    learning(
        "automatic",
        BOTH,
        ["{bin}/learned"],
        launch=as_node(1, 1, 1, 1),
        env={"HUDDLE_NODES": "auto"},
    ),
    learning("spans", ALL, ["{bin}/spans", "30000"], again=True),
    learning("calls that fail on one", BOTH, ["{bin}/ended"], says=CUT, again=True),
    *[with_wisdom(case) for case in CASES if case.group == "nodes" and "ULFM" in case.name],
]
