# SPDX-License-Identifier: BSD-3-Clause
"""Cases of wrong programs: ranks whose counts do not match, in a call of a loop of right ones."""

import os

from cases import ALL, BOTH, DIED, MPICH, OPEN, Case


def large_for_the_mpi(folder):
    """A tuning file that leaves large broadcasts and exchanges to the MPI."""
    with open(os.path.join(folder, "tuning.toml"), "w", encoding="utf-8") as file:
        file.write(
            "".join(
                f'[[{name}]]\nbytes = "64K-"\nalgorithm = "mpi"\n' for name in ("bcast", "alltoall")
            )
        )


# What a call whose counts do not match may say: under Open MPI nothing, where Open MPI itself finds
# out; nothing either, where what was sent fits.
UNEQUAL = (
    r"alltoall of MPI_COMM_WORLD \(4 ranks\): rank 1 sends \d+ bytes to each rank and receives 40"
    r" from each rank; the call fails, later ones are .* own"
)
UNEQUAL_GATHER = (
    r"gather of .*: rank 1 sends 80 bytes and receives 40 from each rank; the call fails"
)
UNEQUAL_SCATTER = (
    r"scatter of .*: rank 1 sends 80 bytes to each rank and receives 40 from itself; the call fails"
)
DIFFERENT = (
    r"ranks of MPI_COMM_WORLD \(4 ranks\) make different calls: rank \d calls \w+.*, rank \d calls"
    r" .*; the call fails, later ones are .* own"
)


def different(call, *sizes):
    """Of two ranks, each with one of the sizes."""
    blocks = " with blocks of" if call in ("alltoall", "allgather") else " of"
    each = rf"{call}{blocks} ({'|'.join(str(size) for size in sizes)}) bytes( (with|and) root 3)?"
    return (
        rf"make different calls: rank \d calls {each}, rank \d calls (?!{call}{blocks} \1 ){each}"
        r"(, which falls back to [\w. -]+)?; the call fails"
    )


def through(name, ranks, words, mpis=BOTH, **more):
    """Ends in time, with an error on some ranks or none, and all ranks are through."""
    return Case(
        "mismatch",
        name,
        mpis,
        ranks,
        words,
        fails=None,
        seconds=40,
        prints=[f"rank {r} is through" for r in range(ranks)],
        **more,
    )


def mismatch(call, sent, received, mpis, others=10, **more):
    """The job ends in time; where errors are returned all ranks are through."""
    words = ["{bin}/mismatch", call, str(sent), str(received), str(others)]
    return [
        Case("mismatch", " ".join(words[1:]), mpis, 4, words, fails=None, seconds=40, **more),
        through(" ".join(words[1:]) + ", errors returned", 4, [*words, "--go-on"], mpis, **more),
    ]


def cut_short(call, algorithm, sent, others, mpis=("mpich4", "ompi4"), **more):
    """
    One algorithm serves the counts of all: nothing is written beyond them, and the ranks that get
    more than they have room for report it.
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
        + [f"rank {r} is through" for r in range(4)],
        **more,
    )


def chained(call, count, others, *more_words, **more):
    """A scan in fragments."""
    return Case(
        "mismatch",
        f"{call}/chain {count} {others}",
        BOTH,
        4,
        ["{bin}/mismatch", call, str(count), str(count), str(others), *more_words],
        env={f"HUDDLE_{call.upper()}": "chain", f"HUDDLE_{call.upper()}_CHAIN_FRAGMENT": "4K"},
        collectives=(call,),
        seconds=40,
        **more,
    )


MISMATCHES = [
    *mismatch("alltoall", 20, 10, MPICH, says=[UNEQUAL]),
    *mismatch("alltoall", 5, 10, ("mpich4",), says=[UNEQUAL], again=True),
    # (Open MPI itself refuses these on the rank that is wrong; where errors are returned the others
    # wait for it, as without huddle)
    mismatch("alltoall", 20, 10, OPEN, may_say=[DIED.format(call="alltoall")])[0],
    *mismatch("alltoall", 20000, 20000, BOTH, says=[different("alltoall", 40, 80000)]),
    # (the root's own sizes; an MPI alone may find them out itself, or not)
    *mismatch("gather", 20, 10, MPICH, says=[UNEQUAL_GATHER]),
    *mismatch("scatter", 20, 10, MPICH, says=[UNEQUAL_SCATTER]),
    *[
        through(
            f"reduce_scatter by {name}, other blocks of {each} integers",
            4,
            ["{bin}/unlike_blocks", str(each)],
            env={"HUDDLE_REDUCE_SCATTER": name},
            may_say=[DIFFERENT],
            again=name == "exchange",
        )
        for name in ("exchange", "slices", "single")
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
    *[
        case
        for call in ("bcast", "allreduce", "reduce")
        for case in mismatch(
            call, 100000, 0, BOTH, says=[different(call, 40, 400000)], again=call == "allreduce"
        )
    ],
    # (a rank that needs fewer pieces than the others is through, and waits in the next call)
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
    # (sizes of which huddle serves one, and the MPI the other; a rank inside the MPI stays there
    # where errors are returned)
    *[
        mismatch(
            call,
            100000,
            100000,
            ("mpich4", "ompi4"),
            says=[different(call, 40, 400000)],
            prepare=large_for_the_mpi,
            env={"HUDDLE_TUNING": "{folder}/tuning.toml"},
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
    # (sent equals received on each rank: by a little and by a lot, small blocks and large ones)
    *[
        cut_short(call, "inline", sent, others)
        for call in ("alltoall", "allgather")
        for sent, others in ((101, 100), (90, 100), (100, 400), (400, 100))
    ],
    *[
        cut_short(call, algorithm, sent, others, again=others == 100)
        for call, algorithms in (
            ("alltoall", ("windows", "single", "push")),
            ("allgather", ("windows", "single", "push")),
            ("allreduce", ("single", "push")),
            ("reduce", ("single",)),
        )
        for algorithm in algorithms
        for sent, others in ((101, 100), (8000, 4000), (40000, 131072))
    ],
    # (by far fewer fragments or more than a rank has cells; and by a few)
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
