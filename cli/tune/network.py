# SPDX-License-Identifier: BSD-3-Clause
"""
huddle tune --network: the numbers of the network (src/cost/network.h), as jobs measure them when
their first communicator that spans nodes begins (src/core/team/span_network.c).  Some jobs, the
medians, and their table [network] in the tuning file.
"""

import os
import re
import secrets
import shlex
import statistics
import time

from ..common import jobs, mpis, places, refused
from ..common.layout import Trouble
from ..common.network import Network, text
from . import tuning_file

JOBS, LIMIT_S = 5, 60
LINE = re.compile(
    r"network +alpha (\d+) ns, beta (\d+) ps per byte, overhead (\d+) ns, send (\d+) ns"
)
PRELOAD = 'export LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}"; exec "$@"'


def words_of(command):
    """The words of a shell's command."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise Trouble(
            f"--network {refused.shown(command)}: {error} (accepted: words as in a shell)", 2
        ) from error


def program(layout, command, words):
    """The program for the launcher's MPI.  command: its words as the user gave them."""
    answer = mpis.version_of(words[0]) if words else None
    if not answer:
        raise Trouble(
            f"--network {refused.shown(command)}: its first word is no launcher of an MPI"
            " (accepted: mpirun, mpiexec, ... and its words)",
            2,
        )
    kind = "openmpi" if answer[1].startswith("openmpi") else "mpich"
    path = layout.program(f"nodes-{kind}")
    if not os.path.exists(path):
        raise Trouble(f"{path} is missing: huddle was built without mpicc.{kind}")
    return path


def measure(layout, words, path):
    """Of one job: its Network."""
    loader = os.path.join(layout.plugins, "libhuddle-loader.so")
    settings = {
        "HUDDLE_JOB": secrets.token_hex(16),
        "HUDDLE_NODES": "on",
        "HUDDLE_STATS": "1",
        "HUDDLE_TUNING": "off",
    }
    rank = ["env", *(f"{name}={value}" for name, value in settings.items())]
    # ranks of another node have the environment of a login, but for what they are given
    command = [*words, *rank, "sh", "-c", PRELOAD + " 2>&1", loader, path, "barrier:0:3"]
    try:
        output = jobs.run(command, limit_s=LIMIT_S)
    except jobs.JobFailed as failure:
        raise Trouble(f"--network: {failure}") from failure
    found = LINE.search(output)
    if not found:
        raise Trouble(
            "--network: no message crossed nodes (accepted: a command that starts ranks on two"
            " nodes or more, for example mpirun -H a,b -np 2)"
        )
    alpha_ns, beta_ps, *others = (int(number) for number in found.groups())
    return Network(alpha_ns, beta_ps / 1000, *others)


def without(path):
    """The text of a file, without its [network] and the comments right above."""
    if not os.path.exists(path):
        return f"{tuning_file.MARK}'.\n"
    with open(path, encoding="utf-8") as file:
        content = file.read()
    for line in tuning_file.network_text(path).split("\n"):
        if line:
            content = content.replace(line + "\n", "", 1)
    return content if content.endswith("\n") else content + "\n"


def table_text(found, command):
    return "\n".join(
        [
            "",
            f"# {time.strftime('%Y-%m-%d %H:%M')}, medians of {JOBS} jobs: {command}",
            "[network]",
            f"alpha_ns = {found.alpha_ns:.0f}",
            f"beta_ps = {1000 * found.beta_ns:.0f}",
            f"overhead_ns = {found.overhead_ns:.0f}",
            f"send_ns = {found.send_ns:.0f}",
            "",
        ]
    )


def main(options, layout):
    words = words_of(options.network)
    path = program(layout, options.network, words)
    output = tuning_file.place(layout, options)
    tuning_file.check_place(output, options.force)
    measured = [measure(layout, words, path) for _ in range(JOBS)]
    found = Network(*(statistics.median(column) for column in zip(*measured)))
    print(f"Between nodes, medians of {JOBS} jobs: {text(found)}")
    for name, column in zip(Network._fields, zip(*measured)):
        print(f"  {name:12} {min(column):g} to {max(column):g}")
    head = without(output).rstrip("\n")
    places.write(output, head + "\n" + table_text(found, options.network), "")
    tuning_file.check_reads(layout, output)
    print(f"Written: {output}")
    return 0
