# SPDX-License-Identifier: BSD-3-Clause
"""
Cases of wrong programs: ranks whose counts do not match, in one call of a loop of correct calls.
"""

import os

from cases import ALL, BOTH, DIED, MPICH, NO_TRIALS, OPEN, WISDOM, Case
from forced import in_tree


def large_for_the_mpi(folder):
    """Writes a tuning file by which large broadcasts and exchanges fall back to the MPI."""
    with open(os.path.join(folder, "tuning.rules"), "w", encoding="utf-8") as file:
        file.write("bcast bytes=64K- -> mpi\nalltoall bytes=64K- -> mpi\n")


# The possible reports of a call whose counts do not match.  Under Open MPI there may be none if
# Open MPI itself finds the error, or if the sent data fits.
UNEQUAL = (
    r"alltoall of MPI_COMM_WORLD \(4 ranks\): rank 1 sends \d+ bytes to each rank and receives 40"
    r" from each rank; the call fails, and later calls fall back to "
)
UNEQUAL_GATHER = (
    r"gather of .*: rank 1 sends 80 bytes and receives 40 from each rank; the call fails"
)
UNEQUAL_SCATTER = (
    r"scatter of .*: rank 1 sends 80 bytes to each rank and receives 40 from itself; the call fails"
)
DIFFERENT = (
    r"ranks of MPI_COMM_WORLD \(4 ranks\) make different calls: rank \d calls \w+.*, rank \d calls"
    r" .*; the call fails, and later calls fall back to "
)


FATAL = r"fatal error in MPI_Alltoall on MPI_COMM_WORLD, rank \d: Message truncated"


def different(call, *sizes):
    """Returns the report about two ranks with different sizes among these."""
    blocks = " with blocks of" if call in ("alltoall", "allgather") else " of"
    each = rf"{call}{blocks} ({'|'.join(str(size) for size in sizes)}) bytes( (with|and) root 3)?"
    return (
        rf"make different calls: rank \d calls {each}, rank \d calls (?!{call}{blocks} \1 ){each}"
        r"(, which falls back to [\w. -]+)?; the call fails"
    )


def through(name, ranks, words, mpis=BOTH, **more):
    """
    Makes a case that ends in time, with an error on some ranks or none, and all ranks get through.
    """
    return Case(
        "mismatch",
        name,
        mpis,
        ranks,
        words,
        fails=None,
        seconds=40,
        prints=[f"rank {r} is through" for r in range(ranks)] + more.pop("prints", []),
        **more,
    )


def mismatch(call, sent, received, mpis, others=10, **more):
    """Makes cases in which the job ends in time; if errors are returned, all ranks get through."""
    words = ["{bin}/mismatch", call, str(sent), str(received), str(others)]
    name = " ".join(words[1:])
    return [
        Case("mismatch", name, mpis, 4, words, fails=None, seconds=40, **more),
        through(
            name + ", errors returned",
            4,
            [*words, "--go-on"],
            mpis,
            prints=[f"rank {r}: the last call is right" for r in range(4)],
            **more,
        ),
    ]


def learned(ranks, root, sent, **more):
    """
    Makes a case of a broadcast after 300 of 100 bytes, whose class is then decided.  Rank 1, which
    may be the root, passes another size, whose class is open.
    """
    words = ["{bin}/mismatch", "bcast", str(sent), "0", "25", "300", str(root)]
    return through(
        f"bcast, {ranks} ranks that learn, root {root}: 25 and {sent}{more.pop('as_well', '')}",
        ranks,
        [*words, "--go-on"],
        may_say=[DIFFERENT.replace("4 ranks", f"{ranks} ranks")],
        prints=[f"rank {r}: the last call is right" for r in range(ranks)],
        env={**WISDOM, **more.pop("env", {})},
        **more,
    )


def cut_short(call, algorithm, sent, others, mpis=("mpich4", "ompi4"), **more):
    """
    Makes a case in which the same algorithm serves the counts of all ranks.  No rank writes beyond
    its count, and the ranks with too little space for the message report the error.
    """
    reduces = call in ("reduce", "allreduce")
    cut = [reduces or (r == 1) == (sent < others) for r in range(4)]
    return Case(
        "mismatch",
        f"{call}/{algorithm} {sent} {others}",
        mpis,
        4,
        ["{bin}/mismatch", call, str(sent), str(sent), str(others), "--go-on"],
        env={f"HUDDLE_{call.upper()}": algorithm},
        handled=True,
        collectives=(call,),
        fails=None,
        seconds=40,
        prints=[f"rank {r}: no harm, {'truncated' if cut[r] else 'no error'}" for r in range(4)]
        + [f"rank {r}: the last call is right" for r in range(4)],
        **more,
    )


def chained(call, count, others, *more_words, **more):
    """Makes a case of a scan in fragments."""
    return Case(
        "mismatch",
        f"{call}/chain {count} {others}",
        BOTH,
        4,
        ["{bin}/mismatch", call, str(count), str(count), str(others), *more_words],
        env={f"HUDDLE_{call.upper()}": "chain", f"HUDDLE_LAB_{call.upper()}_CHAIN_FRAGMENT": "4K"},
        collectives=(call,),
        seconds=40,
        **more,
    )


MISMATCHES = [
    *mismatch("alltoall", 20, 10, MPICH, says=[UNEQUAL]),
    *mismatch("alltoall", 5, 10, ("mpich4",), says=[UNEQUAL], again=True),
    # Open MPI itself rejects these calls on the wrong rank.  If errors are returned, the others
    # wait for it, as without huddle.
    mismatch("alltoall", 20, 10, OPEN, may_say=[DIED.format(call="alltoall")])[0],
    *mismatch("alltoall", 20000, 20000, BOTH, says=[different("alltoall", 40, 80000)]),
    # The class of the error is the MPI's own.
    through(
        "alltoall 20000, the error's class",
        4,
        ["{bin}/mismatch", "alltoall", "20000", "20000", "--go-on"],
        ALL,
        says=[different("alltoall", 40, 80000)],
        prints=[f"rank {r}: no harm, truncated" for r in range(4)],
    ),
    Case(
        "mismatch",
        "alltoall 20000, errors are fatal",
        ("mpich4", "mpich5"),
        4,
        ["{bin}/mismatch", "alltoall", "20000", "20000"],
        fails=True,
        seconds=40,
        says=[different("alltoall", 40, 80000), FATAL],
        says_each=True,
        prints=[FATAL],
    ),
    # The root's own sizes; an MPI alone may find the error itself.
    *mismatch("gather", 20, 10, MPICH, says=[UNEQUAL_GATHER]),
    *mismatch("scatter", 20, 10, MPICH, says=[UNEQUAL_SCATTER]),
    *[
        through(
            f"reduce_scatter by {name}, other blocks of {each} integers",
            4,
            ["{bin}/mismatched_blocks", str(each)],
            env={"HUDDLE_REDUCE_SCATTER": name},
            may_say=[DIFFERENT],
            again=name == "exchange",
        )
        for name in ("exchange", "slices", "cma_read")
        for each in (10, 3000, 100000)
    ],
    *[
        through(
            f"another root, {count} integers",
            3,
            ["{bin}/roots", str(count)],
            says=[r"make different calls: rank \d calls bcast .*with root \d, rank \d calls bcast"],
            again=count == 10,
        )
        for count in (10, 50000)
    ],
    Case(
        "mismatch",
        "sent from where the result belongs, with another type",
        ALL,
        4,
        ["{bin}/aliased"],
        handled=True,
        collectives=("alltoall", "allgather"),
        prints=["aliased: through"],
    ),
    # A receiver of a broadcast follows the root to another algorithm, so no rank fails.
    *[
        case
        for call in ("bcast", "allreduce", "reduce")
        for case in mismatch(
            call,
            100000,
            0,
            BOTH,
            says=[] if call == "bcast" else [different(call, 40, 400000)],
            env=NO_TRIALS if call == "bcast" else {},
            again=call == "allreduce",
        )
    ],
    # Ranks that learn, and compare sizes on some ranks alone.
    *[
        learned(ranks, root, sent, again=(ranks, root, sent) not in ((2, 0, 12), (4, 1, 5000)))
        for ranks, root in ((2, 0), (2, 1), (4, 3), (4, 1))
        for sent in (12, 26, 50, 5000)
    ],
    Case(
        "mismatch",
        "bcast, ranks that learn, errors are fatal",
        BOTH,
        4,
        ["{bin}/mismatch", "bcast", "12", "0", "25", "300"],
        env=WISDOM,
        fails=None,
        seconds=40,
        may_say=[DIFFERENT],
        again=True,
    ),
    # A rank that needs fewer pieces than the others gets through, and waits in the next call.
    *[
        case
        for call in ("allreduce", "reduce")
        for case in mismatch(
            call,
            150000,
            0,
            BOTH,
            others=300000,
            says=[different(call, 600000, 1200000)],
            again=call == "reduce",
        )
    ],
    # Sizes of which huddle serves one and the MPI the other.  A rank inside the MPI stays there if
    # errors are returned.
    *[
        mismatch(
            call,
            100000,
            100000,
            ("mpich4", "ompi4"),
            says=[different(call, 40, 400000)],
            prepare=large_for_the_mpi,
            env={"HUDDLE_TUNING": "{folder}/tuning.rules"},
        )[0]
        for call in ("bcast", "alltoall")
    ],
    *[
        case
        for call in ("bcast", "allreduce", "reduce")
        for count in (5, 20)
        for case in mismatch(
            call, count, 0, BOTH, may_say=[DIFFERENT], again=count == 5 or call == "reduce"
        )
    ],
    # Sent equals received on each rank: differences by a little and by a lot, small and large
    # blocks.
    *[
        cut_short(call, "inline", sent, others)
        for call in ("alltoall", "allgather")
        for sent, others in ((101, 100), (90, 100), (100, 400), (400, 100))
    ],
    *[
        cut_short(call, algorithm, sent, others, again=others == 100)
        for call, algorithms in (
            ("alltoall", ("windows", "cma_read", "cma_write")),
            ("allgather", ("windows", "cma_read", "cma_write")),
            ("allreduce", ("cma_read", "cma_write")),
            ("reduce", ("cma_read",)),
        )
        for algorithm in algorithms
        if (call, algorithm) in in_tree()
        for sent, others in ((101, 100), (8000, 4000), (40000, 131072))
    ],
    # Far more or far fewer fragments than a rank has cells; and a few more.
    *[
        chained(
            call,
            count,
            others,
            "--go-on",
            handled=True,
            prints=[f"rank {r}: later scans are right" for r in range(4)],
            again=(call == "scan") == (count > others),
        )
        for call in ("scan", "exscan")
        for count, others in ((100, 40000), (40000, 100), (2000, 4000), (4000, 2000))
    ],
]
