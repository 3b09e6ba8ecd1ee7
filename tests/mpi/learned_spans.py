# SPDX-License-Identifier: BSD-3-Clause
"""Cases of run.py: communicators that span nodes learn (HUDDLE_WISDOM)."""

from dataclasses import replace

from cases import ALL, BOTH, CASES, NODES, RAGGED_NODES, SPANS, WISDOM, Case, as_node
from wrappers import every

SHORT_FRAGMENTS = {"HUDDLE_LAB_NODES_FRAGMENT": "256"}  # a broadcast of 256 messages loses
# A line of each communicator.  Which rank finds the error first, and as what, depends on timing and
# on what was learned.
CUT = 2 * ["rank [23] of .* cannot continue its calls: "]


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
            ["{bin}/learned", *(["--reductions"] if launch is NODES else [])],
            launch=launch,
            env=SHORT_FRAGMENTS,
            passed="native collective",  # it is faster, or a trial
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
    # An MPI that polls would take a hundred times as long, for the whole run.
    learning(
        "automatic on one processor",
        BOTH,
        ["{bin}/learned", "--reductions"],
        launch=as_node(1, 1, 1, 1),
        env={"HUDDLE_NODES": "auto"},
        each=every("taskset", "-c", "0"),
        handled=True,
        tried=True,
        collectives=("reduce", "allreduce", "reduce_scatter"),
    ),
    learning("spans", ALL, ["{bin}/spans", "30000"], again=True),
    # Ranks cut a broadcast off whose class is open, or served by huddle or by the MPI.
    *[
        learning(
            f"calls that fail on one, {name}",
            ALL if calls == "400 400" else BOTH,
            ["{bin}/ended", *calls.split()],
            env=env,
            says=CUT,
            again=calls in ("", "0 400"),
        )
        for name, calls, env in (
            ("open", "", {}),
            ("long decided", "400", {}),
            ("short decided", "0 400", {}),
            ("both decided", "400 400", {}),
            ("both by the MPI", "400 400", SHORT_FRAGMENTS),
        )
    ],
    *[with_wisdom(case) for case in CASES if case.group == "nodes" and "ULFM" in case.name],
]
