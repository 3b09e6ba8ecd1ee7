# SPDX-License-Identifier: BSD-3-Clause
"""Broadcasts by send and receive (lab/bench/messages.c) on the network of SimGrid's SMPI."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from typing import Any

from cli.common import jobs
from cli.common.layout import CliError, Layout

PROGRAM = "messages-smpi"
MISSING = "SimGrid is not installed; install Debian's libsimgrid-dev and build again"

# The Hockney model alone: no correction of latencies, no acknowledgements, no time of the sending
# or receiving processor.
FLAGS = (
    "--cfg=network/model:CM02",
    "--cfg=network/TCP-gamma:0",
    "--cfg=network/crosstraffic:0",
    "--cfg=smpi/os:0:0:0",
    "--cfg=smpi/or:0:0:0",
    "--cfg=smpi/ois:0:0:0",
    "--cfg=smpi/simulate-computation:no",
    "--log=root.thresh:error",
)

# Any two hosts are connected by two links.  Each host has its own link, the same in both
# directions.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="nodes" prefix="node" suffix="" radical="0-{last}" speed="1Gf" bw="{bandwidth:.1f}Bps" lat="{latency:.9f}s" sharing_policy="SPLITDUPLEX"/>
</platform>
"""


def here(layout: Layout) -> bool:
    return shutil.which("smpirun") is not None and os.path.exists(layout.program(PROGRAM))


def run(
    layout: Layout, alpha_ns: Any, beta_ns: Any, ranks: Any, points: Any, limit_s: Any = 600
) -> Any:
    """Returns the time of each of the points (tree, degree, segment, bytes), in ns."""
    with tempfile.TemporaryDirectory(prefix="huddle-") as scratch:
        platform, hosts = os.path.join(scratch, "platform.xml"), os.path.join(scratch, "hosts")
        with open(platform, "w", encoding="utf-8") as file:
            file.write(
                PLATFORM.format(last=ranks - 1, bandwidth=1e9 / beta_ns, latency=alpha_ns / 2 / 1e9)
            )
        with open(hosts, "w", encoding="utf-8") as file:
            file.writelines(f"node{rank}\n" for rank in range(ranks))
        words = [":".join(str(part) for part in point) for point in points]
        try:
            output = jobs.run(
                [
                    "smpirun",
                    "-np",
                    str(ranks),
                    "-hostfile",
                    hosts,
                    "-platform",
                    platform,
                    *FLAGS,
                    layout.program(PROGRAM),
                    *words,
                ],
                cwd=scratch,
                limit_s=limit_s,
            )
        except jobs.JobFailed as failure:
            raise CliError(f"SimGrid: {failure}") from failure
    answer = json.loads(output[output.index("{") : output.rindex("}") + 1])
    if any(point["wrong"] for point in answer["points"]):
        raise CliError("SimGrid: bytes were wrong")
    return [point["ns"] for point in answer["points"]]
