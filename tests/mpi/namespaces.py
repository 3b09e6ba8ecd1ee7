# SPDX-License-Identifier: BSD-3-Clause
"""
Nodes of network namespaces on one machine, joined by a switch: for tests and measurements.

    python3 tests/mpi/namespaces.py [--rate 1gbit] [--first] NODES[xRANKS] COMMAND...

COMMAND runs on the switch.  In its words {ompi4}, {ompi4-han}, {ompi5}, {mpich5}, ... stand for
what starts RANKS ranks of a program on each node.

A node has a network, a host name, processes, System V IPC and /dev/shm of its own; files are those
of the machine.  Its link carries --rate in each direction, without losses.  Only root can make one.
All of it ends with this process: each namespace lives as long as a `cat` that reads from a pipe.

With more ranks than processors the ranks sleep while they wait for messages (patient.c), or
they would take the processors that the network needs.  --first: they also go before all else on the
machine.  Use it in short bursts.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import Any

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

from cli.common import jobs, peers

NET, SWITCH, BRIDGE, LINK = "10.77.0", "switch", "br0", "eth0"
NEEDED = ("unshare", "nsenter", "mount", "ip", "tc")
FRAME_BYTES = 8192  # size of a frame, to have few headers; an idle link saves up as much
QUEUE = "16mb"
# Keeps a node's namespaces until the pipe ends.
SPACE = """hostname $0 && mount --make-rprivate / && { mount -t sysfs s /sys 2>/dev/null || :; } &&
mount -t tmpfs -o size=2g t /dev/shm && mount --bind "$1" /etc/hosts && ip link set lo up &&
echo ready && exec cat"""
AGENT = """#!/bin/sh
# what an MPI calls instead of ssh: [options] NODE COMMAND...
while case $1 in -*) ;; *) false ;; esac; do shift; done
node=$1; shift
exec nsenter -t "$(cat {home}/$node)" --net --uts --ipc --mount --pid --wd={cwd} \\
    env -i HOME="$HOME" PATH="$PATH" USER=root SHELL=/bin/sh LANG=C TMPDIR=/dev/shm {env} sh -c "$*"
"""


# Runs the words after a library with the library preloaded, before other preloaded libraries.
PRELOAD = 'export LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}"; exec "$@"'


class NotHere(Exception):
    """The reason why nodes cannot be made on this machine."""


def check() -> None:
    """Raises NotHere if nodes cannot be created."""
    missing = [name for name in NEEDED if not shutil.which(name)]
    if os.geteuid() != 0:
        raise NotHere("nodes of network namespaces: only root can make them")
    if missing:
        raise NotHere(f"nodes of network namespaces: {missing[0]} is not installed")
    tried = ["unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "true"]
    if subprocess.run(tried, capture_output=True, check=False).returncode != 0:
        raise NotHere("nodes of network namespaces: unshare is not permitted here")


def run(command: Any) -> Any:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotHere(f"{shlex.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


class Space:
    """A namespace: its name, the process that keeps it, and the process that others enter."""

    def __init__(self, name: Any, hosts: Any, processes: Any) -> None:
        kinds = ["--net", "--uts", "--ipc", "--mount"]
        self.kinds = [*kinds, "--pid"] if processes else kinds
        more = ["--pid", "--fork", "--kill-child", "--mount-proc"] if processes else []
        self.keeper = subprocess.Popen(
            ["unshare", *kinds, *more, "sh", "-c", SPACE, name, hosts],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.keeper.stdin and self.keeper.stdout
        self.input = self.keeper.stdin
        if self.keeper.stdout.readline() != "ready\n":
            raise NotHere(f"nodes of network namespaces: {self.keeper.communicate()[1].strip()}")
        self.pid = self.keeper.pid
        if processes:
            about = pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children")
            self.pid = int(about.read_text().split()[0])

    def enter(self, command: Any) -> Any:
        return ["nsenter", "-t", str(self.pid), *self.kinds, f"--wd={os.getcwd()}", *command]

    def end(self) -> None:
        self.input.close()
        self.keeper.wait()


class Nodes:
    """Nodes that exist as long as the context."""

    def __init__(self, count: Any, build: str, rate: Any = "none") -> None:
        self.count, self.rate = count, rate
        self.patient = os.path.join(build, "tests", "mpi", "patient.so")
        self.home: str = ""
        self.spaces: dict[str, Space] = {}
        self.names = [f"node{i}" for i in range(count)]

    def __enter__(self) -> Nodes:
        check()
        self.home = tempfile.mkdtemp(prefix="huddle-nodes-")
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for space in reversed(self.spaces.values()):
            space.end()
        shutil.rmtree(self.home, ignore_errors=True)

    def add(self, name: Any, processes: Any) -> Any:
        space = self.spaces[name] = Space(name, os.path.join(self.home, "hosts"), processes)
        pathlib.Path(self.home, name).write_text(str(space.pid), encoding="ascii")
        return space

    def make(self) -> None:
        places = [("127.0.0.1", "localhost"), (f"{NET}.254", SWITCH)]
        places += [(f"{NET}.{i + 1}", name) for i, name in enumerate(self.names)]
        lines = "".join(f"{address} {name}\n" for address, name in places)
        pathlib.Path(self.home, "hosts").write_text(lines, encoding="ascii")
        bridge = f"ip link add {BRIDGE} type bridge && ip addr add {NET}.254/24 dev {BRIDGE}"
        self.add(SWITCH, False)
        self.on(SWITCH, f"{bridge} && ip link set {BRIDGE} up")
        for i, name in enumerate(self.names):
            self.connect(i, self.add(name, True))

    def connect(self, number: Any, node: Any) -> None:
        name, gso = self.names[number], f"gso_max_size {FRAME_BYTES}"
        link = f"ip link add port{number} {gso} type veth peer name {LINK} {gso} netns {node.pid}"
        up = f"mtu {FRAME_BYTES} up"
        self.on(SWITCH, f"{link} && ip link set port{number} master {BRIDGE} {up}")
        self.on(name, f"ip addr add {NET}.{number + 1}/24 dev {LINK} && ip link set {LINK} {up}")
        if self.rate == "none":
            return
        burst = FRAME_BYTES + FRAME_BYTES // 8
        shape = f"root tbf rate {self.rate} burst {burst} limit {QUEUE}"
        self.on(SWITCH, f"tc qdisc add dev port{number} {shape}")
        self.on(name, f"tc qdisc add dev {LINK} {shape}")

    def on(self, name: Any, line: Any) -> Any:
        return run(self.spaces[name].enter(["sh", "-c", line]))

    # ---- what is run there ----

    def enter(self, command: Any) -> Any:
        """Returns a command that runs on the switch."""
        return self.spaces[SWITCH].enter(command)

    def agent(self, env: Any) -> Any:
        words = " ".join(shlex.quote(f"{name}={value}") for name, value in env.items())
        path = os.path.join(self.home, f"agent-{len(os.listdir(self.home))}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(AGENT.format(home=self.home, cwd=shlex.quote(os.getcwd()), env=words))
        os.chmod(path, 0o755)
        return path

    def job(self, mpi: Any, counts: Any) -> Any:
        """
        Returns a command that starts ranks, `counts` of them on each node.  `mpi` is a
        peers.Mpi, whose name may end in -han.
        """
        hosts = ",".join(f"{name}:{count}" for name, count in zip(self.names, counts))
        ranks, agent = sum(counts), self.agent(mpi.env)
        oversubscribed = ranks > len(os.sched_getaffinity(0))
        start, env = (openmpi if peers.abi(mpi.kind) == "openmpi" else hydra)(
            mpi, agent, oversubscribed
        )
        where = ["-H", hosts] if peers.abi(mpi.kind) == "openmpi" else ["-hosts", hosts]
        rank = []
        if oversubscribed and os.path.exists(self.patient):
            env["PATIENT_US"] = "20" if ranks > len(counts) else "1000"
            rank = ["sh", "-c", PRELOAD, self.patient]
        words = [f"{name}={value}" for name, value in env.items()]
        mine = [f"{name}={value}" for name, value in {**mpi.env, **jobs.AS_ROOT}.items()]
        return ["env", *mine, *start, *where, "-n", str(ranks), "env", *words, *rank]


def openmpi(mpi: Any, agent: Any, oversubscribed: Any) -> Any:
    out_of_band = "--mca" if mpi.kind == "ompi4" else "--prtemca"
    rsh = "plm_rsh_agent" if mpi.kind == "ompi4" else "plm_ssh_agent"
    local = "vader" if mpi.kind == "ompi4" else "sm"
    words = ["--mca", "pml", "ob1", "--mca", "btl", f"tcp,{local},self", "--bind-to", "none"]
    words += ["--mca", "btl_tcp_if_include", f"{NET}.0/24"]
    words += ["--mca", "mpi_yield_when_idle", str(int(oversubscribed))]
    words += [out_of_band, "oob_tcp_if_include", f"{NET}.0/24", out_of_band, rsh, agent]
    if mpi.kind != "ompi4":
        words += ["--mca", "osc", "^ucx"]
    if mpi.name.endswith("-han"):
        words += ["--mca", "coll_han_priority", "99"]
    return [mpi.launcher, *words], {}


def hydra(mpi: Any, agent: Any, _crowded: Any) -> Any:
    words = ["-iface", BRIDGE, "-launcher", "ssh", "-launcher-exec", agent]
    env = {"FI_PROVIDER": "tcp", "FI_TCP_IFACE": LINK}
    if mpi.kind == "mpich4":
        env = {"UCX_TLS": "tcp,self,sysv,posix", "UCX_NET_DEVICES": LINK}
    if mpi.kind == "intel":
        env["I_MPI_FABRICS"] = "shm:ofi"
    return [mpi.launcher, *words], {**mpi.env, **env}


def known(folder: Any) -> Any:
    """
    Returns {name: Mpi} of Debian's MPIs and the wheels in a folder.  Open MPI's appear with han,
    too.
    """
    found = {name: mpi for name in ("ompi4", "mpich4") if (mpi := peers.debian(name))}
    found.update((mpi.name, mpi) for mpi in peers.wheels(folder))
    han = {f"{name}-han": mpi for name, mpi in found.items() if name.startswith("ompi")}
    return {**found, **{name: mpi._replace(name=name) for name, mpi in han.items()}}


def go_first() -> None:
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def parse() -> Any:
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n")[0])
    parser.add_argument("nodes", metavar="NODES[xRANKS]")
    parser.add_argument("--rate", default="1gbit")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--wheels", default="build/peers", metavar="DIR")
    parser.add_argument("--build", default="build", metavar="DIR")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


def main() -> Any:
    options = parse()
    count, _, each = options.nodes.partition("x")
    mpis = known(os.path.abspath(options.wheels))
    try:
        with Nodes(int(count), os.path.abspath(options.build), options.rate) as nodes:
            words = {
                name: nodes.job(mpi, [int(each or 1)] * nodes.count) for name, mpi in mpis.items()
            }
            command = options.command
            for name, text in words.items():
                command = [word.replace(f"{{{name}}}", shlex.join(text)) for word in command]
            first = go_first if options.first else None
            return subprocess.run(nodes.enter(command), preexec_fn=first, check=False).returncode
    except NotHere as why:
        print(f"huddle: {why}", file=sys.stderr)
        return 77


if __name__ == "__main__":
    sys.exit(main())
