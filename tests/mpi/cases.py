# SPDX-License-Identifier: BSD-3-Clause
"""The cases: a program, an MPI, a trouble, and the expected result.

Trouble is made by wrappers: `outside` around the whole job (launcher included), `each` around every rank.  A wrapper is a command that ends
where the wrapped command begins.  A wrapper raises NotHere if this machine or user lacks something it needs, and the case is skipped with that line.
"""

import os
import pathlib
import re
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Callable, Optional

from who_answers import ask_of_late
from wrappers import attacked, built, every, in_cgroup, namespaces, no_pool, nothing, odd, on_ranks, one_by_one, one_namespace, twice_in_containers, with_pool, works

OPEN, MPICH = ("ompi4", "ompi5"), ("mpich4", "mpich5", "intel")
ALL = OPEN + MPICH
BOTH = ("ompi4", "mpich4", "mpich5")  # one MPI of each front end and ABI, where the MPI does not matter
NOT_MPICH_4 = ("ompi4", "mpich5")  # both MPIs, but without MPICH 4.0, which itself fails

DIFFERENTIAL = ("{bin}/differential", "--brief", "--beyond")


def collectives():
    """Returns name -> flags, from src/coll/coll.def."""
    row = r'^COLL\(\w+, (\w+), "\w+", [^,]+,\s*([\w |]+),'
    text = (pathlib.Path(__file__).resolve().parents[2] / "src" / "coll" / "coll.def").read_text(encoding="utf-8")
    return dict(re.findall(row, text, re.MULTILINE))


# The collectives that each program tests, as huddle counts them.
COLLECTIVES = {
    "differential": [name for name, flags in collectives().items() if not re.search("REDUCES|BLOCKS|VIEWS", flags)],
    "reductions": [name for name, flags in collectives().items() if "REDUCES" in flags],
    "exchanges": [name for name, flags in collectives().items() if "BLOCKS" in flags and "ROOTED" not in flags],
    "gathers": [name for name, flags in collectives().items() if ("ROOTED" in flags and "BLOCKS" in flags) or re.search("SAME_TO_ALL.*VIEWS", flags)],
}
LEFT = ("elements too large", "operation not supported")
PROGRAMS = {"differential": DIFFERENTIAL, "reductions": ("{bin}/reductions", "--brief"), "exchanges": ("{bin}/exchanges", "--brief"),
            "gathers": ("{bin}/gathers", "--brief")}


@dataclass
class Case:
    group: str
    name: str
    mpis: Sequence[str]
    ranks: int
    command: Sequence[str] = DIFFERENTIAL
    env: dict = field(default_factory=dict)
    launch: dict = field(default_factory=dict)        # MPI or ABI -> further options of its launcher
    bind: bool = False
    outside: Callable = nothing
    each: Callable = nothing
    prepare: Callable = nothing                       # called before the case, with its folder
    clean: Callable = nothing                         # called after the case, with its folder
    during: Optional[Callable] = None                 # called with the running job
    handled: Optional[bool] = None                      # calls were handled, and none except also_passed fell back; None: not checked
    passed: str = ""                                  # at least one call fell back for a reason like this
    also_passed: Sequence[str] = ("one rank",)
    tried: bool = False                               # teams have tried a second algorithm (HUDDLE_WISDOM)
    leaves: Sequence[str] = ()                        # reasons for which as many calls fell back as the program prints, if it prints a number
    collectives: Sequence[str] = ("barrier", "bcast")
    says: Sequence[str] = ()                          # the expected "huddle: " lines, each once
    may_say: Sequence[str] = ()                       # further lines that are no fault, each at most once
    says_each: bool = False                           # each rank may print them
    prints: Sequence[str] = ()
    fails: Optional[bool] = False                     # None: the MPI decides
    seconds: float = 90
    full: bool = False
    again: bool = False                               # other cases of ./test, or its unit tests, cover the same: --brief omits it


# ---- troubles ----

def as_node(*slots):
    """Returns launcher options for nodes with these numbers of ranks.  A script gives each node its own host name."""
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "as_node.sh")
    hosts = ",".join(f"node{name}:{count}" for name, count in zip("ABCD", slots))
    hydra = ["-launcher", "ssh", "-launcher-exec", tool, "-hosts", hosts]
    return {
        "ompi4": ["--mca", "plm_rsh_agent", tool, "-H", hosts, "--mca", "btl_tcp_if_include", "lo"],
        "ompi5": ["--prtemca", "plm_ssh_agent", tool, "-H", hosts, "--mca", "btl_tcp_if_include", "lo"],
        "mpich4": hydra,
        "mpich5": hydra,
        "intel": ["-bootstrap", "ssh", "-bootstrap-exec", tool, "-hosts", hosts, "-genv", "I_MPI_FABRICS", "shm:ofi", "-genv", "FI_PROVIDER", "tcp"],
    }


def nodes_exist(_):
    works("unshare", "--uts", "true")


def kill_one_rank(job):
    """Kills a rank once a section of the job is done.  The launcher then has 30 s to end everything."""
    from run import marked
    until = time.monotonic() + 20
    while time.monotonic() < until and not re.search(r"^\w+ +ok$", job.text(), re.MULTILINE):
        time.sleep(0.1)
    name = job.case.command[0].replace("{bin}", "")
    program = [pid for pid, line in marked(job.mark).items() if line.split(" ")[0].endswith(name)]
    os.kill(max(program), signal.SIGKILL)
    job.process.wait(30)


def until_it_says(pattern):
    """Waits for a line, which must come, then kills the launcher, like a user whose job hangs."""
    def wait(job):
        until = time.monotonic() + 60
        while time.monotonic() < until and job.process.poll() is None and not re.search(pattern, job.text()):
            time.sleep(0.1)
        if job.process.poll() is None:
            os.killpg(job.process.pid, signal.SIGKILL)
    return wait


def bad_setting(name, value, accepted, **more):
    return Case("settings", f"{name}={value}", BOTH, 2, env={name: value}, handled=False, **more, passed="bad setting",
                says=[f"{name}.*{value}.*{accepted}.*own collectives"])


def differing(name, value, reason, **more):
    """Makes a case in which only rank 1 has another value.  Teams without this rank are handled."""
    return Case("settings", f"{name}={value} on one rank", BOTH, 3, each=on_ranks("-eq 1", "env", f"{name}={value}"), passed=reason, **more,
                says=[f"{name}=.*accepted.*own collectives"])


def fits_in(size):
    """Gives the whole job a full /dev/shm of this size."""
    return namespaces(["--mount"], f"mount -t tmpfs -o size={size} none /dev/shm && cat /dev/zero >/dev/shm/full 2>/dev/null; true")


WISDOM, NO_TRIALS = {"HUDDLE_WISDOM": "on"}, {"HUDDLE_WISDOM": "off"}
CHECK = {"HUDDLE_CHECK": "on", "HUDDLE_CHECK_TIMEOUT": "1"}
DIFFERENCES = {**CHECK, "HUDDLE_CHECK_TIMEOUT": "60"}


def handled(program):
    """Requires that all calls of the program are handled, except calls reported to fall back."""
    return dict(handled=True, collectives=COLLECTIVES[program], leaves=LEFT)


NONBLOCKING = {"handled": True, "collectives": list(collectives()), "also_passed": ("one rank", "no lease")}


LITTLE = "HUDDLE_LEASE=64K is too little for all calls of scatter"


def fixed(name, mpis, ranks, env=None, **more):
    """Makes a case in which every sum must have the bits of adding from rank 0 to the last rank."""
    return Case("order", name, mpis, ranks, ["{bin}/order", "--brief", "--fixed"], env={"HUDDLE_REDUCE_ORDER": "fixed", **(env or {})},
                **{**handled("reductions"), **more})


def unlike(word, difference, mpis=ALL, call="139 of MPI_COMM_WORLD", **more):
    """Makes a case in which a rank's call differs, after 138 matching calls (mismatched_calls.c)."""
    return Case("check", word, mpis, 4, ["{bin}/mismatched_calls", word], env=DIFFERENCES, fails=None, says=[rf"check: call {call} \(4 ranks\): " + difference], **more)


KILLED = r"rank \d of .* \(\d ranks\), process \d+ on \S+, has ended; rank \d has waited in \w+ for [0-9.]+ s"
DIED = r"rank 1 of MPI_COMM_WORLD \(4 ranks\), process \d+ on \S+, has ended; rank \d has waited in {call} for [0-9.]+ s"
# Launchers that continue when a rank is killed.
GO_ON = {"ompi4": ["--enable-recovery"], "ompi5": ["--with-ft", "ulfm"]}


def dies(collective, name, mpi, **more):
    line = DIED.format(call=collective)
    return Case("death", f"{collective}, {name}", (mpi,), 4, ["{bin}/death", collective], launch=GO_ON, fails=None, says=[line + more.pop("tail", "")], **more)


def attack(name, times, mpis=ALL, **more):
    """Makes a case in which another user attacks the job's sockets with a user's rights.  Each start must end in time with all calls handled."""
    # UCX has such sockets too, and aborts when it receives noise there.  This setting makes it not look.
    more = {"handled": True, "each": one_by_one(), "env": {"UCX_ADAPTIVE_PROGRESS": "n"}, **more}
    return Case("attack", name, mpis, 3, ["{bin}/differential", "--brief", "--most", "100"], outside=attacked(times), seconds=60 + 30 * times,
                prints=[f"(?m)^{times} starts: 0 hung, 0 failed$"], **more)


# Hides Hydra's socket, so that ranks find each other by name.
NO_PROXY = ("env", "-u", "HYDI_CONTROL_FD", "-u", "HYDRA_BSTRAP_UPSTREAM_FD")

NODES = as_node(2, 2)
RAGGED_NODES = as_node(1, 2, 1)
SPANS = {"env": {}, "prepare": nodes_exist, "seconds": 120}
# Collectives of tests/mpi/spans.c.  Reductions in order are handled if nodes are ranges of ranks.
SPANNING = [name for name in collectives() if name not in ("scan", "exscan")]
TCP = {"openmpi": ["--mca", "btl", "tcp,self"]}
# The MPIs' own ways to read another process fail in such places.  Without sockets, since MPICH over UCX's sometimes never ends in MPI_Finalize.
NO_CMA = {"OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_smsc": "^cma", "MPIR_CVAR_CH4_CMA_ENABLE": "0", "UCX_TLS": "posix,self", "UCX_POSIX_USE_PROC_LINK": "n"}
SOCKETS = {**NO_CMA, "UCX_TLS": "tcp,self"}  # all transports that work between namespaces
AT_ANOTHER_ROOT = "mkdir root.$$ && at=$PWD/root.$$ && mount --rbind / $at && set -- chroot $at \"$@\""
# --brief has each amount of these resources once.
ONCE = {("descriptors", "0", "-1"), ("descriptors", "1", "1"), ("space", "0", "1"), ("space", "1000000", "-1"), ("space", "20000000", "1")}
HUGE_PAGES = {"HUDDLE_HUGE_PAGES": "on", "HUDDLE_MEMORY": "4M"}
NO_HUGE_PAGES = r"HUDDLE_HUGE_PAGES=on: [1-3] of 3 ranks, the first of them rank [0-2], have ordinary pages: the pool has too few"
MEMORY_CALLS = "mbind,move_pages,get_mempolicy,set_mempolicy"

CASES = [
    # The differential program under every MPI; its calls are handled.
    Case("differential", "2 ranks", ALL, 2, ["{bin}/differential", "--beyond"], bind=True, handled=True, again=True),  # (mpi_each)
    Case("differential", "3 ranks", ("ompi4", "mpich4"), 3, handled=True, again=True),  # (mpi_quick)
    Case("differential", "8 ranks", ALL, 8, handled=True, seconds=150),
    Case("differential", "one rank", BOTH, 1),
    Case("differential", "64 ranks", ("ompi4",), 64, [*DIFFERENTIAL, "--most", "5000"], handled=True, seconds=200, again=True),
    # Four teams of 300 exist at once, each with 200 KB of each arena, and a new team gets at most a quarter of the free memory; auto would be 1 % of memory /
    # 300.
    Case("differential", "300 ranks", ("ompi4",), 300, [*DIFFERENTIAL, "--most", "5000"], env={"HUDDLE_MEMORY": "4M"}, handled=True, seconds=900, full=True,
         may_say=[r"HUDDLE_MEMORY=4M is too little for all calls of .* on 300 ranks"]),
    Case("differential", "soak", ALL, 4, ["{bin}/differential", "--beyond", "--seconds", "60", "--seed", "{seed}"], handled=True, seconds=400, full=True),
    Case("differential", "8 ranks, all sizes", ALL, 8, ["{bin}/differential", "--beyond"], handled=True, seconds=500, full=True),

    # Reductions, exchanges and gathers under every MPI.
    *[Case(program, f"{ranks} ranks", mpis, ranks, [*PROGRAMS[program], "--beyond"], bind=ranks == 2, seconds=200, again=ranks == 2, **handled(program))
      for program in ("reductions", "exchanges", "gathers") for ranks, mpis in ((2, ALL), (3, BOTH), (8, ("ompi4",)))],
    *[Case(program, "4 ranks, at length", ALL, 4, ["{bin}/" + program, "--beyond", "--seconds", "20", "--seed", "{seed}"], seconds=900, full=True,
           **handled(program)) for program in ("reductions", "exchanges", "gathers")],
    *[Case(program, "without huddle", BOTH, 2, PROGRAMS[program], env={"HUDDLE": "off"}) for program in ("reductions", "exchanges", "gathers")],
    *[Case("reductions", "what functions are given" + when, mpis, 3, ["{bin}/functions"], env=env, handled=True, also_passed=("operation not supported",),
           collectives=("reduce", "allreduce")) for when, mpis, env in (("", ALL, {}), (", checked", BOTH, CHECK))],
    # The wheel of Open MPI 5 does not support Fortran.
    Case("reductions", "from Fortran", ("ompi4", *MPICH), 3, ["{bin}/fortran"], each=built("fortran"), prints=["passed"], handled=True,
         collectives=("reduce", "allreduce", "alltoall")),

    # The bits of sums are the same on all ranks, and in fixed order also for all places of the ranks.
    Case("order", "as it comes", BOTH, 3, ["{bin}/order", "--brief"], **handled("reductions")),
    fixed("fixed", ALL, 3),
    fixed("fixed, 8 ranks", ("ompi4",), 8, again=True),
    fixed("fixed, no levels", BOTH, 3, env={"HUDDLE_LAB_LEVELS_OFF": "l2,l3,numa,socket"}),
    fixed("fixed, ranks placed the other way round", BOTH, 4, each=odd("taskset", "-c", "0")),
    fixed("fixed, little memory", BOTH, 3, env={"HUDDLE_LEASE": "64K"}, says=[LITTLE], again=True),
    fixed("fixed, hardly any memory", BOTH, 3, env={"HUDDLE_LEASE": "4K"}, says=["HUDDLE_LEASE=4K is too little for all calls of bcast"]),
    Case("order", "fixed, but falls back", BOTH, 3, ["{bin}/order", "--brief"], env={"HUDDLE_REDUCE_ORDER": "fixed", "HUDDLE_ALLREDUCE": "mpi"},
         says=[r"HUDDLE_REDUCE_ORDER=fixed does not hold for this allreduce of 3 ranks, which .* carries out: native collective forced; to avoid this: "]),

    *[Case("reductions", f"functions of the user's, {ranks} ranks", mpis, ranks, ["{bin}/operations", "--hard"], bind=ranks == 2, handled=True,
           leaves=LEFT, collectives=COLLECTIVES["reductions"], again=ranks == 2) for ranks, mpis in ((2, ALL), (3, BOTH))],
    Case("exchanges", "absolute addresses", ALL, 2, ["{bin}/bottom"], handled=True, collectives=("bcast", "alltoall", "alltoallv")),
    Case("reductions", "absolute addresses", ("mpich4",), 3, ["{bin}/bottom", "--reductions"], handled=True, leaves=LEFT, collectives=("reduce", "allreduce")),
    Case("exchanges", "large counts", MPICH, 3, ["{bin}/large"]),
    Case("exchanges", "counts that are not read, and wrong ones", MPICH, 3, ["{bin}/counts"], seconds=20),
    *[Case("gathers", f"blocks in gaps, {way}", BOTH, 2, ["{bin}/gaps"], handled=True, collectives=("allgather", "gather", "scatter"), env=env)
      for way, env in (("own choice", {}), ("single copy", {"HUDDLE_ALLGATHER": "cma_read", "HUDDLE_GATHER": "cma_write", "HUDDLE_SCATTER": "cma_read"}))],
    # Intel MPI pauses between tests of a request, so 2 GB by tiles take many minutes.
    Case("gathers", "blocks of more than 2 GB", (*OPEN, "mpich4", "mpich5"), 2, ["{bin}/huge"], handled=True, seconds=600, full=True,
         collectives=("gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv")),

    # Nonblocking and persistent collectives, next to blocking collectives.
    *[Case("nonblocking", f"{ranks} ranks", mpis, ranks, ["{bin}/nonblocking", "--brief", "--beyond"], bind=ranks == 2, again=ranks == 2, seconds=200, **NONBLOCKING)
      for ranks, mpis in ((2, ALL), (3, BOTH), (8, ("ompi4",)))],
    Case("nonblocking", "threads", ALL, 2, ["{bin}/nonblocking_threads"], handled=True, collectives=("barrier", "bcast", "allreduce")),
    Case("nonblocking", "4 ranks, at length", ALL, 4, ["{bin}/nonblocking", "--beyond", "--seconds", "20", "--seed", "{seed}"], seconds=900, full=True, **NONBLOCKING),
    *[Case("nonblocking", f"{ranks} ranks, waits of the MPI's", ALL, ranks, ["{bin}/waits"], env={"HUDDLE_NONBLOCKING": "auto"}, bind=ranks == 2, again=ranks == 2)
      for ranks in (2, 3)],
    # With three ranks MPICH's own exchange is not finished before the lock is held, either.  Intel's MPI_Reduce_local holds its own lock while the operation
    # runs.
    Case("nonblocking", "an operation takes a lock", (*OPEN, "mpich4", "mpich5"), 2, ["{bin}/called", "operation"], env={"HUDDLE_NONBLOCKING": "on"}, seconds=60, collectives=("allreduce",)),
    Case("nonblocking", "a copy function waits for another communicator", ALL, 2, ["{bin}/called", "attribute"], seconds=60, collectives=("bcast",)),
    Case("nonblocking", "locks of windows", ALL, 2, ["{bin}/locks"], env={"HUDDLE_NONBLOCKING": "auto"}),
    Case("nonblocking", "handled where waits advance them", ("ompi4", "ompi5", "mpich5"), 3, ["{bin}/waits"], env={"HUDDLE_NONBLOCKING": "auto"}, handled=True,
         leaves=LEFT, collectives=("allgather",), again=True),
    *[Case("nonblocking", f"{ranks} ranks, {what}", mpis, ranks, ["{bin}/staggered_calls", word], seconds=60, handled=True, collectives=("allreduce",))
      for what, word, ranks, mpis in (("a rank that is no neighbour", "neighbours", 3, ("ompi4", "ompi5", "mpich4", "mpich5")),
                                      ("disconnected", "disconnect", 2, ("mpich4", "mpich5", "intel")),
                                      ("freed when over", "free", 2, ("mpich5",)), ("copied meanwhile", "copies", 3, ALL), ("a copy waited for first", "ahead", 3, ALL),
                                      ("a rank that is no neighbour, no set-up", "behind", 3, ("ompi4", "ompi5", "mpich4", "mpich5")), ("parts of a grid", "sub", 2, ALL), ("windows", "windows", 2, ALL))],
    Case("nonblocking", "3 ranks, one of the MPI's waited for first", ALL, 3, ["{bin}/staggered_calls", "ahead"], env={"HUDDLE_BCAST": "mpi"}, seconds=60, handled=True,
         collectives=("allreduce",)),
    # Only under Open MPI 4 a loop of mpi_request_get_status by mpi_f08 does not end.
    Case("nonblocking", "from Fortran 2008", ("mpich4", "mpich5"), 3, ["{bin}/f08"], each=built("f08"), prints=["passed"], seconds=60, handled=True, collectives=("allreduce",)),
    *[Case("nonblocking", f"{ranks} ranks, calls that return at once{with_threads}", mpis, ranks, ["{bin}/returns", *with_threads.replace(", ", "--").split()], seconds=60, handled=True, leaves=LEFT, collectives=("bcast",), again=again)
      for ranks, mpis, with_threads, again in ((2, ALL, "", False), (3, BOTH, "", True), (2, BOTH, ", threads", False))],
    Case("nonblocking", "cancelled, and freed in flight", ALL, 2, ["{bin}/cancel_and_free", "--beyond"], seconds=30, handled=True, collectives=("allreduce",)),
    Case("nonblocking", "cancelled, and freed in flight, without huddle", ALL, 2, ["{bin}/cancel_and_free"], env={"HUDDLE": "off"}, seconds=30, again=True),
    Case("nonblocking", "waits in other orders, memory for few", BOTH, 3, ["{bin}/staggered_calls", "crossed"], env={"HUDDLE_MEMORY": "24K"}, seconds=120, passed="no lease",
         says=["HUDDLE_MEMORY=24K is too little"], collectives=("allreduce",)),
    Case("nonblocking", "waits in other orders", BOTH, 3, ["{bin}/staggered_calls", "crossed"], seconds=120, handled=True, leaves=LEFT, collectives=("allreduce",)),
    Case("nonblocking", "switched off", BOTH, 3, ["{bin}/nonblocking", "--brief"], env={"HUDDLE_NONBLOCKING": "off"}, seconds=200),
    Case("nonblocking", "switched off on one rank", BOTH, 3, ["{bin}/waits"], each=on_ranks("-eq 1", "env", "HUDDLE_NONBLOCKING=off"), passed="ranks without huddle here",
         says=["rank 1 has another value of HUDDLE_CHECK or HUDDLE_NONBLOCKING"], collectives=("allgather",)),
    Case("nonblocking", "without huddle", BOTH, 3, ["{bin}/nonblocking", "--brief"], env={"HUDDLE": "off"}, seconds=200, again=True),
    Case("nonblocking", "all fall back", BOTH, 3, ["{bin}/nonblocking", "--brief"], env={f"HUDDLE_{name.upper()}": "mpi" for name in collectives()}, handled=False,
         collectives=list(collectives()), seconds=200),
    Case("nonblocking", "little memory", BOTH, 3, ["{bin}/nonblocking", "--brief"], env={"HUDDLE_MEMORY": "400K"}, may_say=["HUDDLE_MEMORY=400K is too little"], seconds=200),
    Case("nonblocking", "one rank without huddle", BOTH, 3, ["{bin}/nonblocking", "--brief"], each=on_ranks("-eq 1", "env", "-u", "LD_PRELOAD"),
         says=["rank 1 runs without huddle"], seconds=200, again=True),
    Case("nonblocking", "checked", BOTH, 3, ["{bin}/nonblocking", "--brief", "--beyond"], env=CHECK, seconds=300, **NONBLOCKING),
    Case("nonblocking", "several algorithms in turn", BOTH, 3, ["{bin}/nonblocking", "--brief", "--beyond"], env=WISDOM, seconds=300, again=True, **NONBLOCKING),

    # Here and in programs, one algorithm must serve both sizes: if one of them is decided, the call may end with another error, and later calls fall back.
    *[Case("nonblocking", f"truncation, {ranks} ranks", mpis, ranks, ["{bin}/truncate", "--forms"], env=NO_TRIALS, bind=ranks == 2, seconds=200, again=ranks == 2, handled=True,
           collectives=("bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv")) for ranks, mpis in ((2, ALL), (3, ALL))],

    # Memory for all communicators, since others would have their requests in the MPI's own lists.
    *[Case("nonblocking", f"{requests:,} in flight on {comms} communicators", ALL, 2, ["{bin}/flight", "--requests", str(requests), "--comms", str(comms), "--bounded"],
           env={"HUDDLE_MEMORY": "256M"}, handled=True, collectives=list(collectives()), seconds=400, full=full) for requests, comms, full in ((1000, 20, False), (10000, 100, True))],
    Case("nonblocking", "10,000 in flight on 100 communicators, memory for some", OPEN, 3, ["{bin}/flight", "--requests", "10000", "--comms", "100", "--bounded"],
         env={"HUDDLE_MEMORY": "32M"}, passed="no lease", collectives=("allreduce",), handled=True, seconds=400, full=True,
         may_say=[r"HUDDLE_MEMORY=32M is too little for a communicator of 3 ranks"]),

    # Persistent collectives, started in a different order on each rank.
    *[Case("nonblocking", f"starts, {ranks} ranks", mpis, ranks, ["{bin}/starts", "--beyond"], bind=ranks == 2, seconds=200, again=ranks == 3, **NONBLOCKING)
      for ranks, mpis in ((2, OPEN), (3, ("ompi4",)), (4, OPEN))],
    Case("nonblocking", "starts, more than memory", OPEN, 3, ["{bin}/starts", "--many", "400"], env={"HUDDLE_MEMORY": "2M"}, seconds=200, handled=True,
         passed="no lease", collectives=("allreduce",), may_say=[r"HUDDLE_MEMORY=2M is too little for a communicator of 3 ranks"]),
    Case("nonblocking", "starts, checked", OPEN, 3, ["{bin}/starts", "--beyond"], env=CHECK, seconds=300, again=True, **NONBLOCKING),
    Case("nonblocking", "starts, switched off", ("ompi4",), 3, ["{bin}/starts"], env={"HUDDLE_NONBLOCKING": "off"}, seconds=200, again=True),
    Case("nonblocking", "starts, all fall back", ("ompi4",), 3, ["{bin}/starts"], env={f"HUDDLE_{name.upper()}": "mpi" for name in collectives()}, handled=False,
         collectives=list(collectives()), seconds=200, again=True),
    Case("nonblocking", "starts, one rank without huddle", ("ompi4",), 3, ["{bin}/starts"], each=on_ranks("-eq 1", "env", "-u", "LD_PRELOAD"),
         says=["rank 1 runs without huddle"], seconds=200, again=True),

    # Several algorithms in turn, and then the fastest one, in every program above and in threads.  Not gathers under Open
    # MPI: its own allgatherv waits for ever if equal signatures have different types (ranks choose different algorithms).
    *[Case("wisdom", f"{program}, {ranks} ranks", mpis, ranks, words, env=WISDOM, seconds=200, tried=program == "reductions", again=ranks == 2 or program == "reductions", **handled(program))
      for ranks, mpis in ((2, BOTH), (4, ALL)) for program, words in (("differential", DIFFERENTIAL), ("reductions", ("{bin}/reductions", "--beyond")),
                                                                     ("exchanges", ("{bin}/exchanges", "--beyond")))],
    *[Case("wisdom", f"gathers, {ranks} ranks", ("mpich4",), ranks, ["{bin}/gathers", "--beyond"], env=WISDOM, seconds=200, again=ranks == 2, **handled("gathers")) for ranks in (2, 4)],
    Case("wisdom", "checked", BOTH, 2, PROGRAMS["reductions"], env={**WISDOM, **CHECK}, **handled("reductions")),
    Case("wisdom", "threads", BOTH, 4, ["{bin}/threads"], env=WISDOM, handled=True),
    Case("wisdom", "truncation", BOTH, 3, ["{bin}/truncate"], env=WISDOM, handled=True),
    Case("wisdom", "communicators", BOTH, 2, ["{bin}/dups", "--cycles", "100"], env=WISDOM, handled=True),
    Case("wisdom", "little memory", BOTH, 3, env={**WISDOM, "HUDDLE_LEASE": "64K"}, handled=True, says=[LITTLE], again=True),
    Case("wisdom", "sums as it comes", BOTH, 3, ["{bin}/order", "--brief"], env=WISDOM, **handled("reductions")),
    *[Case("wisdom", f"bits of reductions, {ranks} ranks", mpis, ranks, ["{bin}/learned", "--reductions"], env=WISDOM, tried=True, again=ranks == 2, **handled("reductions")) for ranks, mpis in ((2, BOTH), (3, ALL))],
    Case("wisdom", "fixed order", BOTH, 3, ["{bin}/order", "--brief", "--fixed"], env={"HUDDLE_REDUCE_ORDER": "fixed", **WISDOM}, **handled("reductions")),
    differing("HUDDLE_WISDOM", "read", "settings differ", again=True),

    # Common usage patterns of MPI programs.  Without single copy the sender must move its message itself.
    Case("programs", "progress", ALL, 2, ["{bin}/progress"], handled=True, env=NO_CMA),
    Case("programs", "progress, 4 ranks", BOTH, 4, ["{bin}/progress"], again=True, handled=True, env=NO_CMA),
    *[Case("programs", f"epochs of windows, {ranks} ranks", mpis, ranks, ["{bin}/epochs"], handled=True, collectives=("barrier",), again=ranks == 4)
      for ranks, mpis in ((2, ALL), (4, BOTH))],
    # Memory for a communicator of each case.  Without trials: the pages of another algorithm are touched at its first trial.
    *[Case("programs", f"first touches, {ranks} ranks", mpis, ranks, ["{bin}/touches"], env={**NO_TRIALS, "HUDDLE_MEMORY": "256M", "HUDDLE_NONBLOCKING": "on"}, handled=True,
           collectives=[name for name in collectives() if name != "barrier"]) for mpis, ranks in ((ALL, 2), (BOTH, 4))],
    Case("programs", "threads", ALL, 2, ["{bin}/threads"], handled=True),
    Case("programs", "threads, 4 ranks", ("ompi4", "intel"), 4, ["{bin}/threads"], handled=True, again=True),
    Case("programs", "fork", ALL, 2, ["{bin}/forker"], handled=True),
    Case("programs", "truncation", ALL, 3, ["{bin}/truncate"], env=NO_TRIALS, handled=True),
    *[Case("programs", f"truncation{name}, 2 ranks", BOTH, 2, ["{bin}/truncate", *words], env=NO_TRIALS, handled=True, bind=True, again=not words) for name, words in (("", ()), (" with two choices", ("--choices",)))],
    Case("programs", "erroneous types", ALL, 2, ["{bin}/erroneous"], seconds=20, handled=True, collectives=("bcast", "allreduce")),
    Case("programs", "intercommunicators", ALL, 4, ["{bin}/inter"], handled=True),
    Case("programs", "spawn", ("ompi4", "ompi5", "mpich5"), 2, ["{bin}/inter", "--spawn"]),
    *[Case("programs", f"spawn, {who} without huddle", ("ompi4", "ompi5", "mpich5"), 2, ["{bin}/inter", "--spawn", *words], env=env, again=who == "parents")
      for who, words, env in (("children", ("env", "-u", "LD_PRELOAD"), {}), ("parents", ("env", "-u", "HUDDLE"), {"HUDDLE": "off"}))],
    Case("programs", "ports", OPEN, 4, ["{bin}/inter", "--connect"], handled=True, also_passed=("ranks without huddle here",)),
    Case("programs", "ports, odd ranks without huddle", OPEN, 4, ["{bin}/inter", "--connect"], each=odd("env", "-u", "LD_PRELOAD"), again=True,
         passed="ranks without huddle here", says=["rank 1 runs without huddle"]),
    # In the omitted cases the MPI itself fails: Open MPI 5 in threads, MPICH 4 and 5 where all sessions close, Intel's with MPI_Init after a session.
    # Reopened: MPICH 5 sometimes truncates a message of its own while the new session's first communicator is created.
    *[Case("programs", f"sessions, {what}", mpis, 2, ["{bin}/sessions", what], full=what == "reopened")
      for what, mpis in (("alone", ("ompi5", *MPICH)), ("within", ("ompi5", *MPICH)), ("around", ("ompi5", "mpich4", "mpich5")), ("threads", MPICH),
                         ("reopened", ("mpich5",)))],
    Case("programs", "killed", ALL, 4, ["{bin}/differential", "--beyond", "--seconds", "60"], during=kill_one_rank, fails=True, may_say=[KILLED]),
    *[Case("programs", f"killed in {program}", BOTH, 4, ["{bin}/" + program, "--seconds", "60"], during=kill_one_rank, fails=True, may_say=[KILLED], again=True)
      for program in ("reductions", "exchanges", "gathers")],

    # A rank's process ends, and the launcher continues: one line; with ULFM an error of the collective.
    *[dies(collective, "recovery", "ompi4", during=until_it_says("has ended"), again=collective != "bcast") for collective in ("barrier", "bcast", "reduce", "allreduce", "alltoall")],
    dies("allreduce", "recovery, while algorithms are tried", "ompi4", during=until_it_says("has ended"), env=WISDOM),
    dies("allreduce", "abort", "ompi4", env={"HUDDLE_ON_DEATH": "abort"}, tail=r"; aborting \(HUDDLE_ON_DEATH=abort\)"),
    # Open MPI 5 itself does not always return from MPI_Finalize after such a recovery, even without huddle.
    *[Case("death", f"{collective}, ULFM", ("ompi5",), 4, ["{bin}/death", collective, "--recover"], launch=GO_ON, fails=None,
           during=until_it_says(r"(?s)(recovered: 3 survivors.*){3}"), says=[DIED.format(call=collective)],
           prints=[f"rank {r} recovered: 3 survivors" for r in (0, 2, 3)], again=collective != "alltoall") for collective in ("barrier", "bcast", "reduce", "allreduce", "alltoall")],
    # Before a team is set up: ranks wait in its exchange.
    Case("death", "before the first call, ULFM", ("ompi5",), 4, ["{bin}/death", "allreduce", "--recover", "--first"], launch=GO_ON, fails=None,
         during=until_it_says(r"(?s)(recovered: 3 survivors.*){3}"), prints=[f"rank {r} recovered: 3 survivors" for r in (0, 2, 3)]),

    # huddle who, called from outside while a rank is late.  Without learning, since a comparison of sizes before a broadcast waits for all ranks.
    Case("who", "a rank that sleeps, and one that is stopped", BOTH, 4, ["{bin}/delaying_ranks"], env={**NO_TRIALS, "HUDDLE_ALLREDUCE": "slices", "HUDDLE_BARRIER": "groups"},
         during=ask_of_late, handled=True, collectives=("barrier", "bcast", "allreduce"), prints=["delaying_ranks: passed"]),

    # Communicators that are created and freed repeatedly, and the maximum number of them (MPICH stops at 2046; Intel's own barrier aborts beyond about 1000).
    *[Case("communicators", f"{n:,} cycles", ALL, 2, ["{bin}/dups", "--cycles", str(n)], bind=True, handled=True, again=n > 1000) for n in (1000, 10000)],
    Case("communicators", "100,000 cycles", BOTH, 2, ["{bin}/dups", "--cycles", "100000"], bind=True, handled=True, seconds=1500, full=True),
    *[Case("communicators", f"{n} cycles, 4 ranks", ("ompi4",), 4, ["{bin}/dups", "--cycles", str(n)], handled=True, seconds=400, full=n > 200, again=n > 40)
      for n in (40, 200, 2000)],
    Case("communicators", "10,000 alive", OPEN, 2, ["{bin}/dups", "--live", "10000"], handled=True, passed="no lease", bind=True, again=True),
    Case("communicators", "500 alive, room for fewer", OPEN, 2, ["{bin}/dups", "--live", "500"], env={"HUDDLE_MEMORY": "1M"}, handled=True,
         passed="no lease", bind=True),
    Case("communicators", "as many alive as there can be", ("mpich4", "mpich5"), 2, ["{bin}/dups", "--live", "3000"], handled=True, bind=True,
         also_passed=("no lease",)),
    Case("communicators", "1,000 alive", ("intel",), 2, ["{bin}/dups", "--live", "1000"], handled=True, bind=True, env={"I_MPI_SHM_HEAP_VSIZE": "4096"}, also_passed=("no lease",)),

    # Settings: one line that names the variable, its value and the accepted values; the program continues.
    bad_setting("HUDDLE_MEMORY", "lots", "bytes", again=True),
    bad_setting("HUDDLE_MEMORY", "-5", "bytes", again=True),
    bad_setting("HUDDLE_MEMORY", "99999999999999999999", "bytes", again=True),
    bad_setting("HUDDLE_BARRIER", "fastest", "groups", again=True),
    bad_setting("HUDDLE_LAB_LEVELS_OFF", "l3,l9", "numa", again=True),
    bad_setting("HUDDLE_BARIER", "auto", "HUDDLE_BARRIER"),
    bad_setting("HUDDLE_LOG", "loud", "quiet", again=True),
    bad_setting("HUDDLE_LEASE", "1", "from 4096 to", again=True),
    differing("HUDDLE_MEMORY", "123456", "settings differ", again=True),
    differing("HUDDLE_BCAST", "mpi", "settings differ"),
    differing("HUDDLE_FIRST", "3", "settings differ", again=True),
    differing("HUDDLE_LAB_LEVELS_OFF", "l3", "settings differ", again=True),
    differing("HUDDLE_LAB_PLACEMENT", "off", "settings differ", again=True),
    differing("HUDDLE_BARRIER", "wrong", "bad setting"),
    Case("settings", "a bad value, one rank", BOTH, 1, ["{bin}/differential", "--brief"], env={"HUDDLE_BCAST": "x"},
         says=[r"HUDDLE_BCAST=x is not valid .*own collectives"]),
    Case("settings", "all wrong alike, quiet", BOTH, 2, env={"HUDDLE_BCAST": "x", "HUDDLE_LOG": "quiet"}, handled=False, passed="bad setting",
         again=True),
    Case("settings", "HUDDLE=off", BOTH, 2, ["{bin}/differential", "--brief"], env={"HUDDLE": "off"}),
    Case("settings", "barriers fall back", BOTH, 2, env={"HUDDLE_BARRIER": "mpi"}, handled=False, passed="native collective forced", collectives=("barrier",)),
    Case("settings", "inline only", BOTH, 2, env={"HUDDLE_BCAST": "inline"}, handled=True, passed="no algorithm", collectives=("bcast",), again=True),
    Case("settings", "queue only", BOTH, 4, env={"HUDDLE_BCAST": "queue"}, handled=True, again=True),
    Case("settings", "placement off", BOTH, 4, env={"HUDDLE_LAB_PLACEMENT": "off"}, handled=True),
    Case("settings", "levels off", BOTH, 4, env={"HUDDLE_LAB_LEVELS_OFF": "l2,l3,numa,socket"}, handled=True, again=True),
    Case("settings", "communicators that begin late", BOTH, 3, env={"HUDDLE_FIRST": "3"}, handled=True, passed="before HUDDLE_FIRST", also_passed=("one rank",)),
    *[Case("settings", f"waits that {way}", BOTH, 4, env={"HUDDLE_WAIT": way}, handled=True, again=way == "yield") for way in ("yield", "sleep")],
    Case("settings", "statistics that cannot be written", BOTH, 2, each=on_ranks("-ge 0", "env", "HUDDLE_STATS=json:/dev/null/file"), says=["HUDDLE_STATS.*/dev/null/file"]),  # huddle run would not start it

    # HUDDLE_CHECK: ranks that make different calls from the others.
    unlike("kind", r"ranks 0-2 call MPI_Barrier; rank 3 calls MPI_Bcast\(root 0, 4 bytes\); these"),
    unlike("root", r"ranks 0-2 call MPI_Bcast\(root 0, 20 bytes\); rank 3 calls MPI_Bcast\(root 1, 20 bytes\); these", again=True),
    unlike("bytes", r"ranks 0-2 call MPI_Bcast\(root 0, 20 bytes\); rank 3 calls MPI_Bcast\(root 0, 16 bytes\); these", BOTH, again=True),
    unlike("operation", r"ranks 0-2 call MPI_Allreduce\(4 bytes, MPI_SUM\); rank 3 calls MPI_Allreduce\(4 bytes, MPI_MAX\); these", BOTH, again=True),
    unlike("counts", r"ranks 0-2 call MPI_Allreduce\(20 bytes, MPI_SUM\); rank 3 calls MPI_Allreduce\(16 bytes, MPI_SUM\); these", BOTH, again=True),
    unlike("reduced", r"ranks 0-2 call MPI_Barrier; rank 3 calls MPI_Allreduce\(8 bytes, MPI_SUM\); these", BOTH, again=True),
    unlike("names", r"ranks 0-2 call MPI_Reduce_scatter_block\(16 bytes, MPI_SUM\); rank 3 calls MPI_Alltoallw; these"),
    unlike("blocks", r"ranks 0-2 call MPI_Alltoall\(8 bytes\); rank 3 calls MPI_Alltoall\(4 bytes sent, 8 received\); these", launch={"openmpi": ["--mca", "mpi_param_check", "0"]}),
    unlike("gathered", r"ranks 0-2 call MPI_Gather\(root 0, 8 bytes\); rank 3 calls MPI_Gather\(root 1, 8 bytes\); these", BOTH),
    unlike("scanned", r"ranks 0-2 call MPI_Scan\(8 bytes, MPI_SUM\); rank 3 calls MPI_Exscan\(8 bytes, MPI_SUM\); these", BOTH),
    unlike("started", r"ranks 0-2 call MPI_Allreduce\(4 bytes, MPI_SUM\); rank 3 calls MPI_Scan\(4 bytes, MPI_SUM\); these", ALL),
    unlike("first", r"ranks 0-2 call MPI_Barrier; rank 3 calls MPI_Bcast\(root 0, 4 bytes\); these", BOTH, call="1 of MPI_COMM_WORLD"),
    unlike("freed", r"rank 0 calls MPI_Comm_free or MPI_Finalize; ranks 1-3 call MPI_Barrier; these", call="2 of its own"),
    Case("check", "the job is ended", ALL, 4, ["{bin}/mismatched_calls", "kind"], env={**DIFFERENCES, "HUDDLE_CHECK": "abort"}, fails=True,
         says=[r"check: call 139 of MPI_COMM_WORLD .*; rank 3 calls MPI_Bcast.*; aborting \(HUDDLE_CHECK=abort\)$"]),
    Case("check", "a rank that does not come", ALL, 4, ["{bin}/mismatched_calls", "silent"], env=CHECK, handled=True, says_each=True,
         says=[r"check: \d s of waiting in call 139 of MPI_COMM_WORLD \(4 ranks\): ranks 0-2 call MPI_Allreduce\(4 bytes, MPI_SUM\); "
               r"missing: rank 3 \(came back from call 138, MPI_Bcast\(root 0, 4 bytes\), \d\.\d s ago\)$"]),
    Case("check", "a rank that does not come back", BOTH, 4, ["{bin}/mismatched_calls", "slow"], env=CHECK, handled=True, says_each=True, again=True,
         says=[r"check: \d s of waiting in call 139 of MPI_COMM_WORLD \(4 ranks\): ranks? .* MPI_Allreduce\(4 bytes, a user-defined operation\)$"]),
    Case("check", "a rank that does not begin", BOTH, 4, ["{bin}/mismatched_calls", "late"], env=CHECK, handled=True, says_each=True,
         says=[r"check: \d s of waiting in the first call of MPI_COMM_WORLD \(4 ranks\): rank [0-2] is there, others are not$"]),
    Case("check", "all agree", ALL, 4, ["{bin}/mismatched_calls", "others"], env=CHECK, handled=True, again=True),
    Case("check", "all agree, differential", ALL, 3, env={**CHECK, **NO_TRIALS}, handled=True),
    Case("check", "all agree, threads", BOTH, 2, ["{bin}/threads"], env=CHECK, handled=True, again=True),
    Case("check", "all agree, intercommunicators", BOTH, 4, ["{bin}/inter"], env=CHECK, handled=True),
    Case("check", "all fall back", BOTH, 4, ["{bin}/mismatched_calls", "kind"], env={**DIFFERENCES, "HUDDLE_BARRIER": "mpi", "HUDDLE_BCAST": "mpi"}, fails=None, again=True,
         says=["check: call 139 of .*: ranks 0-2 call MPI_Barrier; rank 3 calls MPI_Bcast"]),
    # Values that differ between ranks must not decide whether a first call, which huddle does not handle, sets up the team.
    *[Case("check", f"{setting} on one rank", NOT_MPICH_4, 3, ["{bin}/mismatched_calls", "others"], env=CHECK, each=on_ranks("-eq 1", "env", setting), passed=why, says=[line],
           again=setting != "HUDDLE=off")
      for setting, why, line in (
          ("HUDDLE_BCAST=bogus", "bad setting", "HUDDLE_BCAST=bogus.*accepted.*own collectives"),
          ("HUDDLE_TUNING=/nonexistent", "bad setting", "/nonexistent.*own collectives"),
          ("HUDDLE_BCAST=mpi", "settings differ", "HUDDLE_BCAST=.*accepted.*own collectives"),
          ("HUDDLE=off", "ranks without huddle here", "rank 1 runs without huddle"))],
    Case("check", "switched off by a parameter on one rank", OPEN, 3, ["{bin}/mismatched_calls", "others"], env=CHECK,
         each=on_ranks("-eq 1", "env", "OMPI_MCA_coll_huddle_on=off"), passed="switched off", again=True),
    Case("check", "by a parameter, on one rank", OPEN, 3, ["{bin}/mismatched_calls", "others"], again=True, each=on_ranks("-eq 1", "env", "OMPI_MCA_coll_huddle_check=1"),
         passed="ranks without huddle here", says=["rank 1 has another value of HUDDLE_CHECK or"]),
    Case("check", "by a parameter", OPEN, 4, ["{bin}/mismatched_calls", "first"], launch={"openmpi": ["--mca", "coll_huddle_check", "1"]}, fails=None,
         says=["check: call 1 of .*: ranks 0-2 call MPI_Barrier; rank 3 calls MPI_Bcast"]),
    Case("check", "on one rank", NOT_MPICH_4, 3, ["{bin}/mismatched_calls", "others"], each=on_ranks("-eq 1", "env", "HUDDLE_CHECK=on"),
         passed="ranks without huddle here", says=["rank 1 has another value of HUDDLE_CHECK or"]),

    # Bindings of ranks.
    Case("bindings", "one rank bound, the others not", BOTH, 3, each=on_ranks("-eq 1", "taskset", "-c", "0"), handled=True),
    Case("bindings", "all on one processor", BOTH, 3, each=every("taskset", "-c", "0"), handled=True),
    Case("bindings", "overlapping", BOTH, 3, each=on_ranks("-lt 2", "taskset", "-c", "1"), handled=True),

    # Missing memory.
    Case("memory", "budget of one page", BOTH, 2, env={"HUDDLE_MEMORY": "4K"}, handled=False, passed="no shared memory",
         says=["shared memory.*own collectives"]),
    Case("memory", "budget of a few pages", BOTH, 2, env={"HUDDLE_MEMORY": "48K"}, also_passed=("one rank", "no lease", "no algorithm"), again=True,
         says=[r"HUDDLE_MEMORY=48K is too little for all calls of bcast, .* on 2 ranks; calls that do not fit fall back to "]),
    Case("memory", "budget for no communicator", BOTH, 3, env={"HUDDLE_MEMORY": "16K"}, handled=False, passed="no lease", also_passed=("one rank",),
         says=[r"HUDDLE_MEMORY=16K is too little for a communicator of 3 ranks \(accepted: .*\); using .* own collectives"]),
    Case("memory", "budget for some communicators", BOTH, 4, env={"HUDDLE_MEMORY": "400K"}, handled=True, also_passed=("one rank", "no lease", "no algorithm")),
    Case("memory", "too little address space", BOTH, 3, env={"HUDDLE_MEMORY": "300M"}, each=every("prlimit", "--as=1250000000"), handled=False, passed="no shared memory",
         says=["too little address space.*own collectives"]),
    Case("memory", "no private memory left, and many communicators", BOTH, 3, ["{bin}/kept"], env={"HUDDLE_MEMORY": "64M"}, fails=True,
         says=["rank 1 has no memory left for a communicator; aborting"], may_say=["rank 1 is out of private memory; using .* own collectives"]),
    *[Case("memory", f"{amount} {what} left on {who}", NOT_MPICH_4 if (what, amount) == ("space", "0") else BOTH, 4, ["{bin}/scarce", what, amount, rank], says=[r"(cannot map the shared memory|is out of private memory).*own collectives"] if line else [],
           again=(what, amount, rank) not in ONCE)
      for what, amount, line in (("descriptors", "0", True), ("descriptors", "1", False), ("space", "0", True), ("space", "1000000", True), ("space", "20000000", True))
      for who, rank in (("all ranks", "-1"), ("one rank", "1"))],
    *[Case("memory", f"few descriptors on {who}", ("mpich5", "ompi4"), 4, ["{bin}/differential", "--brief", "--most", "100"], each=each, passed="no shared memory",
           also_passed=("one rank",), says=[r"has no shared memory \(HUDDLE_MEMORY=auto\): fewer than 64 descriptors are allowed \(ulimit -n\); using .* own collectives"], again=who == "all ranks")
      for who, each in (("all ranks", every("prlimit", "--nofile=48")), ("one rank", on_ranks("-eq 1", "prlimit", "--nofile=48")))],
    *[Case("memory", f"{amount} descriptors left on {who}, sent over sockets", ("mpich5",), 4, ["{bin}/scarce", "descriptors", amount, rank], env=SOCKETS,
           each=namespaces(["--pid", "--fork", "--mount-proc", "--kill-child"], "ulimit -n 200"), says=["cannot map the shared memory.*own collectives"] if amount == "0" else [],
           again=(amount == "0") == (rank == "1"))
      for amount in ("0", "1") for who, rank in (("all ranks", "-1"), ("one rank", "1"))],
    *[Case("memory", f"a limit of {limit}", BOTH, 3, each=every("prlimit", "--" + limit), handled=True, again=limit != "memlock=0") for limit in ("memlock=0", "nproc=1", "stack=262144")],
    # Two huge pages for each rank.  A line reports it if the kernel makes none of ordinary pages either.
    Case("memory", "huge pages from the pool", BOTH, 3, env=HUGE_PAGES, handled=True, **with_pool(6, used=6)),
    *[Case("memory", f"huge pages of a pool of {pages}, {held} in use", BOTH, 3, env=HUGE_PAGES, handled=True, may_say=[NO_HUGE_PAGES], **with_pool(pages, held), again=held == 6)
      for pages, held in ((1, 0), (6, 2), (6, 6))],
    Case("memory", "huge pages, which are forbidden", BOTH, 3, each=every("{tools}/forbid", "madvise"), env=HUGE_PAGES, prepare=no_pool, handled=True, says=[NO_HUGE_PAGES]),
    Case("memory", "huge pages and policies of memory forbidden", BOTH, 3, each=every("{tools}/forbid", MEMORY_CALLS), env=HUGE_PAGES, handled=True, may_say=[NO_HUGE_PAGES],
         **with_pool(6), again=True),
    Case("memory", "huge pages where placement is off", BOTH, 2, env={**HUGE_PAGES, "HUDDLE_LAB_PLACEMENT": "off"}, handled=True, says=["ordinary pages: HUDDLE_LAB_PLACEMENT is off"],
         again=True),
    Case("memory", "/dev/shm full", ("ompi4",), 2, outside=fits_in("64k"), launch=TCP, handled=True),
    Case("memory", "cgroup all but full", ALL, 3, env={"HUDDLE_MEMORY": "10M", "HUDDLE_LEASE": "1M"},
         **in_cgroup(300 << 20, ["{bin}/tight", "4000000", "{folder}/limit", "{folder}/usage"])),
    *[Case("memory", f"cgroup with {left} bytes left{where}", NOT_MPICH_4, 3, env={"HUDDLE_MEMORY": "10M", "HUDDLE_LEASE": "1M"},
           **in_cgroup(300 << 20, ["{bin}/tight", left, "{folder}/limit", "{folder}/usage", "1"], test, namespace), again=(left == "700000") == namespace)
      for left in ("700000", "2000000")
      for where, test, namespace in ((" for one rank", "-eq 1", False), (" in a namespace", "-ge 0", True))],
    # Open MPI alone needs 14 MB, and MPICH 5 more than all memory that huddle may use.
    *[Case("memory", f"cgroup of {limit} MB{where}", ("ompi4",), 4, **in_cgroup(limit << 20, [*DIFFERENTIAL, "--most", "5000"], test, namespace),
           again=limit != 12)
      for limit, where, test, namespace in ((22, "", "-ge 0", False), (32, "", "-ge 0", False), (22, ", in a namespace", "-ge 0", True), (12, " for one rank", "-eq 1", False))],
    Case("memory", "cgroup that fits", BOTH, 2, handled=True, **in_cgroup(400 << 20, DIFFERENTIAL)),

    # Operations that a container or an administrator forbids, on all ranks or on one.
    Case("forbidden", "memfd", BOTH, 3, each=every("{tools}/forbid", "memfd_create"), handled=False, passed="no shared memory", again=True,
         says=["memfd_create.*own collectives"]),
    Case("forbidden", "memfd on one rank", BOTH, 3, each=on_ranks("-eq 2", "{tools}/forbid", "memfd_create"), passed="no shared memory",
         says=["rank 2.*memfd_create.*own collectives"]),
    Case("forbidden", "fallocate", BOTH, 2, each=every("{tools}/forbid", "fallocate"), handled=False, passed="no shared memory",
         says=["shared memory.*own collectives"]),
    Case("forbidden", "memory policies", BOTH, 3, each=every("{tools}/forbid", MEMORY_CALLS), handled=True),
    Case("forbidden", "reading another process", BOTH, 2, each=every("{tools}/forbid", "process_vm_readv"), handled=True, env=NO_CMA),
    # MPICH needs /proc itself, and Open MPI 5 sometimes does.
    Case("forbidden", "/proc", ("ompi4",), 3, each=namespaces(["--mount"], "mount -t tmpfs none /proc"), handled=True, env=NO_CMA),
    Case("forbidden", "/proc on one rank", ("ompi4",), 3, each=one_namespace("-eq 1", ["--mount"], "mount -t tmpfs none /proc"), env=NO_CMA,
         handled=True),
    Case("forbidden", "processes of others in /proc", BOTH, 3, each=namespaces(["--mount"], "mount -t proc -o hidepid=2 proc /proc"), handled=True, env=NO_CMA),
    Case("forbidden", "/sys", BOTH, 3, each=namespaces(["--mount"], "mount -t tmpfs none /sys"), handled=True),

    # Ranks in different namespaces.
    Case("namespaces", "PID on one rank", NOT_MPICH_4, 3, each=one_namespace("-eq 1", ["--pid", "--fork", "--mount-proc", "--kill-child"]), handled=True, env=SOCKETS),
    Case("namespaces", "PID on every rank", NOT_MPICH_4, 3, each=namespaces(["--pid", "--fork", "--mount-proc", "--kill-child"], "true"), handled=True, env=SOCKETS,
         launch=TCP),
    Case("namespaces", "user on one rank", NOT_MPICH_4, 3, each=one_namespace("-eq 1", ["--user", "--map-root-user"]), handled=True, env=SOCKETS),
    Case("namespaces", "user on every rank", NOT_MPICH_4, 3, each=namespaces(["--user", "--map-root-user"], "true"), handled=True, env=SOCKETS),
    Case("namespaces", "network on one rank", ("mpich4", "mpich5"), 3, each=one_namespace("-eq 1", ["--net"], "ip link set lo up"), handled=True),
    *[Case("namespaces", f"root directory on {who}", BOTH, 4, each=wrapper(["--mount"], AT_ANOTHER_ROOT), handled=True, env=NO_CMA,
           again=who == "every rank")
      for who, wrapper in (("every rank", namespaces), ("one rank", lambda *rest: one_namespace("-eq 1", *rest)))],
    Case("namespaces", "host name on one rank", BOTH, 3, each=one_namespace("-eq 1", ["--uts"], "hostname elsewhere"), handled=True),

    # Ranks without huddle.
    Case("without", "one rank without huddle", BOTH, 3, each=on_ranks("-eq 1", "env", "-u", "LD_PRELOAD"), command=["{bin}/differential", "--brief"],
         passed="ranks without huddle here", says=["rank 1 runs without huddle"]),
    Case("without", "rank 0 without huddle", BOTH, 3, each=on_ranks("-eq 0", "env", "-u", "LD_PRELOAD"), command=["{bin}/differential", "--brief"],
         says=["rank 0 runs without huddle"]),
    Case("without", "HUDDLE=off on one rank", BOTH, 3, each=on_ranks("-eq 1", "env", "HUDDLE=off"), command=["{bin}/differential", "--brief"],
         passed="ranks without huddle here", says=["rank 1 runs without huddle"]),

    Case("without", "HUDDLE_JOB, nor a socket of Hydra's", MPICH, 3, each=every(*NO_PROXY, "-u", "HUDDLE_JOB"), command=["{bin}/differential", "--brief"],
         handled=False, passed="ranks without huddle here", says=["set HUDDLE_JOB=<random text.*own collectives"]),
    Case("without", "a socket of Hydra's", MPICH, 3, each=every(*NO_PROXY), handled=True),

    # Other users of the node, and other jobs of the same name.
    attack("3 starts", 3),
    attack("3 starts, by name", 3, MPICH, each=one_by_one(*NO_PROXY)),
    # Not MPICH: UCX over TCP, the only transport that works there, sometimes hangs in MPI_Finalize, also without huddle.
    attack("PID namespaces", 2, ("ompi4",), each=namespaces(["--pid", "--fork", "--mount-proc", "--kill-child"], "true"), env=NO_CMA,
           launch={"openmpi": [*TCP["openmpi"], "--mca", "btl_tcp_if_include", "lo"]}),
    attack("200 starts", 200, full=True),
    Case("attack", "two jobs of one name", OPEN, 3, ["{bin}/differential", "--brief", "--most", "100"], outside=twice_in_containers,
         each=every("env", "-u", "HUDDLE_JOB"), handled=True),

    # Several nodes on one machine.  Not --beyond: calls without data fall back to the MPI there, as huddle cannot detect whether the ranks of another node use
    # it.
    Case("nodes", "switched off", ALL, 4, launch=NODES, prepare=nodes_exist, handled=False, env={"HUDDLE_NODES": "off"},
         passed="spans nodes|ranks without huddle here", command=["{bin}/differential", "--brief", "--most", "5000"], seconds=120),
    *[Case("nodes", f"handled, {name}", ALL, 4, ["{bin}/spans", "30000"], launch=launch, handled=True,
           collectives=SPANNING, leaves=("spans nodes",), also_passed=("nonblocking not handled", "one rank"), **SPANS)
      for name, launch in (("two nodes", NODES), ("three ragged ones", RAGGED_NODES))],
    Case("nodes", "handled, differential", ALL, 4, ["{bin}/differential", "--brief", "--most", "50000"],
         launch=RAGGED_NODES, handled=True, again=True, **SPANS),
    Case("nodes", "one without huddle", ALL, 4, ["{bin}/differential", "--brief", "--most", "5000"], launch=NODES, each=on_ranks("-ge 2", "env", "-u", "LD_PRELOAD"),
         passed="ranks without huddle here", **SPANS),
    # Open MPI 5's han replaces itself in the communicator's table if nodes have different numbers of ranks.
    Case("nodes", "one without huddle, ragged ones", OPEN, 4, ["{bin}/spans", "5000"], launch=NODES, each=on_ranks("-ge 2", "env", "-u", "LD_PRELOAD"),
         passed="ranks without huddle here", **SPANS),
    Case("nodes", "one with another setting", ("ompi4", "ompi5", "mpich5"), 4, ["{bin}/spans", "5000"], launch=NODES,
         each=on_ranks("-ge 2", "env", "HUDDLE_LAB_NODES_FRAGMENT=1K"), handled=False, passed="settings differ",
         says=["HUDDLE_LAB_NODES_FRAGMENT.*own collectives"], **SPANS),
    # Counts of ranks with an error differ, so the statistics are not checked.
    Case("nodes", "calls that fail on one", ALL, 4, ["{bin}/ended"], launch=NODES,
         says=["rank 2 of .* cannot continue its calls: message truncated", "rank 3 of .* cannot continue its calls: message truncated"], **{**SPANS, "env": {**SPANS["env"], **NO_TRIALS}}),
    # The process that ends is on the first node; ranks of the other node wait for its messages.  Timing decides what a rank meets first: a wait in shared
    # memory that cannot end, a message's error, or the communicator's error in its next call.  (On a loaded machine Open MPI 5's daemon sometimes ends rank 3
    # as well, in 4 of 640 jobs without huddle.  A rank that crashes prints its signal)
    *[Case("nodes", f"{collective}, ULFM", ("ompi5",), 4, ["{bin}/death", collective, "--recover"], fails=None,
           launch={"ompi5": [*NODES.get("ompi5", ()), *GO_ON["ompi5"]]}, during=until_it_says(r"(?s)(recovered: 3 survivors.*){3}|(recovered: 2 survivors.*){2}"),
           prints=[r"(?s)\A(?!.*Process received signal)(?:(?=.*rank 0 recovered: 3 s)(?=.*rank 2 recovered: 3 s)(?=.*rank 3 recovered: 3 s)"
                   r"|(?=.*rank 0 recovered: 2 s)(?=.*rank 2 recovered: 2 s))"],
           may_say=["rank 1 of .* has ended", "rank 3 of .* has ended", *3 * ["rank [023] of .* cannot continue its calls: a rank has failed"]],
           **SPANS) for collective in ("bcast", "allreduce")],
    # Not under MPICH 4, whose own MPI_Reduce crashes in this program.
    Case("nodes", "one switched off", ("ompi4", "ompi5", "mpich5"), 4, ["{bin}/spans", "5000"], launch=NODES, each=on_ranks("-ge 2", "env", "HUDDLE_NODES=off"),
         handled=False, passed="settings differ|ranks without huddle here", may_say=["HUDDLE_NODES.*own collectives"], **SPANS),
    Case("nodes", "two cliques", ("mpich4", "mpich5"), 4, env={"MPIR_CVAR_NUM_CLIQUES": "2"}),
    Case("nodes", "odd and even cliques", ("mpich5",), 4, env={"MPIR_CVAR_ODD_EVEN_CLIQUES": "1"}),
]
