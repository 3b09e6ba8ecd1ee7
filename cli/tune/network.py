# SPDX-License-Identifier: BSD-3-Clause
"""
huddle tune --network: the numbers of the network (src/cost/network.h), as jobs measure them when
their first communicator that spans nodes begins (src/core/span/span_network.c).  Some jobs, the
medians, and their line `network` in the tuning file.
"""

from __future__ import annotations

import os
import secrets
import shlex
import statistics
import time
from typing import Any

from ..common import jobs, mpis, output_files, rules, validators
from ..common.exit_status import BAD_USE, DONE
from ..common.layout import CliError, Layout
from ..common.network import Network, measured, text
from ..common.types import Options
from . import tuning_file

JOBS, LIMIT_S = 5, 60
PRELOAD = 'export LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}"; exec "$@"'


def words_of(command: str) -> list[str]:
    """Splits a command into words, as a shell does."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise CliError(
            f"--network {validators.shown(command)}: {error} (accepted: words as in a shell)",
            BAD_USE,
        ) from error


def program(layout: Layout, command: str, words: list[Any]) -> Any:
    """Returns the program for the launcher's MPI.  command: the words that the user gave."""
    answer = mpis.version_of(words[0]) if words else None
    if not answer:
        raise CliError(
            f"--network {validators.shown(command)}: its first word is not a launcher of an MPI"
            " (accepted: mpirun, mpiexec, ... and its words)",
            BAD_USE,
        )
    kind = "openmpi" if answer[1].startswith("openmpi") else "mpich"
    path = layout.program(f"nodes-{kind}")
    if not os.path.exists(path):
        raise CliError(f"{path} is missing: huddle was built without mpicc.{kind}")
    return path


def measure(layout: Layout, words: Any, path: Any) -> Any:
    """Measures the network in one job.  Returns its Network."""
    loader = os.path.join(layout.plugins, "libhuddle-loader.so")
    settings = {
        "HUDDLE_JOB": secrets.token_hex(16),
        "HUDDLE_NODES": "on",
        "HUDDLE_STATS": "1",
        "HUDDLE_TUNING": "off",
        "HUDDLE_WISDOM": "off",  # three barriers teach nothing
    }
    rank = ["env", *(f"{name}={value}" for name, value in settings.items())]
    # ranks of another node have the environment of a login, but for what they are given
    command = [*words, *rank, "sh", "-c", PRELOAD + " 2>&1", loader, path, "barrier:0:3"]
    try:
        output = jobs.run(command, limit_s=LIMIT_S)
    except jobs.JobFailed as failure:
        raise CliError(f"--network: {failure}") from failure
    found = measured(output)
    if not found:
        raise CliError(
            "--network: no message crossed nodes (accepted: a command that starts ranks on two"
            " nodes or more, for example mpirun -H a,b -np 2)"
        )
    return found


def without(path: str) -> str:
    """Returns the text of a file without its network and the comments right above the network."""
    if not os.path.exists(path):
        return f"{tuning_file.MARK}'.\n"
    content = rules.content_of(path)
    return "\n".join(rules.split(content, lambda line: line.name == rules.NETWORK)[1])


def line_text(found: Network, command: str) -> str:
    values = {
        "alpha_ns": f"{found.alpha_ns:.0f}",
        "beta_ps": f"{1000 * found.beta_ns:.0f}",
        "overhead_ns": f"{found.overhead_ns:.0f}",
        "send_ns": f"{found.send_ns:.0f}",
    }
    head = f"# {time.strftime('%Y-%m-%d %H:%M')}, medians of {JOBS} jobs: {command}"
    return f"\n{head}\n{rules.line_text(rules.Line(rules.NETWORK, values))}\n"


def main(options: Options, layout: Layout) -> Any:
    words = words_of(options.network)
    path = program(layout, options.network, words)
    output = tuning_file.place(layout, options)
    tuning_file.check_place(output, options.force)
    networks = [measure(layout, words, path) for _ in range(JOBS)]
    found = Network(*(statistics.median(column) for column in zip(*networks)))
    print(f"Between nodes, medians of {JOBS} jobs: {text(found)}")
    for name, column in zip(Network._fields, zip(*networks)):
        print(f"  {name:12} {min(column):g} to {max(column):g}")
    head = without(output).rstrip("\n")
    output_files.write(output, head + "\n" + line_text(found, options.network), "")
    tuning_file.check_reads(layout, output)
    print(f"Written: {output}")
    return DONE
