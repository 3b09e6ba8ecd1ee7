# SPDX-License-Identifier: BSD-3-Clause
"""
huddle lab model: predictions of the time models for a collective on a described machine: limits,
times, recommended parameters.
"""

from __future__ import annotations

import json
from typing import Any

from cli.common import collectives, machines, network, output_files, pictures, sizes
from cli.common.command_line import Argument, Command, Option
from cli.common.exit_status import BAD_USE, DONE
from cli.common.layout import CliError, Layout
from cli.common.options import MAPS, bytes_within, sizes_of, whole, within
from cli.common.text import bytes_text, heading, table
from cli.common.types import Options

from .. import described
from ..simulate.options import MACHINE
from ..simulate.simulation import load_machine
from . import compared, fit, nodes, picture
from .predict import PAGE, Prediction

SIZES, FIT_SIZES = "4K:16M:4", "16K:4M:4"
QUEUE = {
    "queue": 1 << 20,
    "fragment": None,
    "buffers": 0,
    "sets": 3,
}  # options of broadcasts, and their defaults


PARAMETERS = (
    Argument("collective", required=False, default="bcast", metavar="COLL", help=collectives.HELP),
    MACHINE,
    Option(
        "--ranks",
        type=whole(1),
        default=0,
        metavar="N",
        help="number of ranks, all on one node (default: one per core)",
    ),
    Option(
        "--map",
        choices=[name for name in MAPS if name != "none"],
        default="core",
        help=(
            "order in which ranks are bound: to cores in turn, round-robin over"
            " NUMA nodes or sockets; none: not bound (default: core)"
        ),
    ),
    Option(
        "--bytes",
        type=sizes_of,
        metavar="SIZES",
        help=(
            f"sizes such as 8,64K,1M, or a range FROM:TO:FACTOR, 8:4M:8 (default: {SIZES}; with"
            f" --fit {FIT_SIZES})"
        ),
    ),
    Option(
        "--queue",
        type=sizes.number,
        metavar="SIZE",
        help="bcast: b, maximum bytes of a rank's queue (default: 1M)",
    ),
    Option(
        "--fragment",
        type=sizes.number,
        metavar="SIZE",
        help="bcast: f, bytes of a fragment, whole pages (default: the best)",
    ),
    Option(
        "--buffers",
        type=whole(1),
        metavar="S",
        help="bcast: s, buffers of a queue (default: computed from b and f)",
    ),
    Option(
        "--sets",
        type=whole(1),
        metavar="Q",
        help="bcast: q, sets of buffers of a queue, refilled as a whole (default: 3)",
    ),
    Option(
        "--fit",
        is_flag=True,
        help=(
            "bcast: measure t, t_w, t_wo and t_a on this machine, and the error of their"
            " predictions"
        ),
    ),
    Option("--simulate", is_flag=True, help="also simulate huddle's own choice on that machine"),
    Option(
        "--measure", is_flag=True, help="also measure huddle's own choice; only for this machine"
    ),
    Option(
        "--nodes",
        type=whole(2, nodes.MAX_NODES),
        metavar="N",
        help="bcast: between N nodes instead: print the tree, the segment and the time",
    ),
    Option(
        "--network",
        type=described.network_of,
        metavar="ALPHA,BETA,OVERHEAD[,SEND]",
        help=(
            "with --nodes: ns of a message, of a byte, of one more message, of the start of one"
            " (default: of the tuning"
            f" file, as huddle tune --network measures it; else {network.USUAL_TEXT})"
        ),
    ),
    Option("--plot", metavar="FILE", help="draw the curves: a PNG file"),
    Option("--json", is_flag=True, help="print JSON"),
)
EPILOG = (
    "Takes less than a second; --simulate takes as long as huddle lab simulate. --measure and --fit"
    f" take some seconds and need a quiet machine. {output_files.HELP}"
)


def us(ns: float) -> str:
    return (
        "0"
        if ns == 0
        else (
            "<.001"
            if ns < 1
            else (
                f"{ns / 1000:.3f}"
                if ns < 1e4
                else f"{ns / 1000:.1f}"
                if ns < 1e6
                else f"{ns / 1000:.0f}"
            )
        )
    )


def show_machine(p: Prediction) -> None:
    heading("Lines: groups, from the lowest")
    table(
        ["level", "groups", "members", "transfer ns", "gap ns"],
        [
            [
                row["level"],
                row["groups"],
                row["members"],
                f"{row['line_ns']:.1f}",
                f"{row['gap_ns']:.1f}",
            ]
            for row in p.node["levels"]
        ],
        right=(1, 2, 3, 4),
    )
    print(
        f"  gather to rank 0 {us(p.node['gather_ns'])} us; release by rank 0"
        f" {us(p.node['release_ns'])} us; dissemination {us(p.node['doubling_ns'])} us, without"
        " links"
    )


def compared_cells(p: Any, at: int) -> list[Any]:
    return ["-" if times[at] is None else us(times[at]) for times in p.compared.values()]


def show_limits(p: Prediction) -> None:
    heading("Limits, us" + ("; huddle's own choice" if p.compared else ""))
    table(
        ["bytes", "latency", "cores", "memory", "links", "limit", *p.compared],
        [
            [
                bytes_text(size) if p.options.collective != "barrier" else "-",
                *(
                    us(limit[key])
                    for key in ("latency_ns", "cores_ns", "memory_ns", "links_ns", "ns")
                ),
                *compared_cells(p, at),
            ]
            for at, (size, limit) in enumerate(zip(p.sizes, p.limits))
        ],
        right=range(6 + len(p.compared)),
    )


def show_trees(p: Prediction) -> None:
    heading("Announcing along a tree: time until the last rank has the announcement (t_w)")
    table(
        ["tree", "t_w ns"],
        [[name, f"{model['notify_ns']:.0f}"] for name, model in p.by_tree()],
        right=(1,),
    )
    model = p.model
    print(
        f"  t {model['byte_ns']:.4f} ns per byte, t_w {model['notify_ns']:.0f} ns ({p.tree}), t_wo"
        f" {model['enter_ns']:.0f} ns, t_a {model['leave_ns']:.1f} ns"
    )


def show_broadcast(p: Prediction) -> None:
    heading(
        f"Predicted, us: paper 01's queue of at most {sizes.written(p.options.queue)}, announced"
        f" along {p.tree}; the best tree of messages"
        + ("; huddle's own choice" if p.compared else "")
    )
    table(
        ["bytes", "f", "s", "queue", "messages", "tree, segment", "limit", *p.compared],
        [
            [
                bytes_text(row["bytes"]),
                sizes.written(int(row["fragment"])),
                f"{row['buffers']:.0f}",
                us(row["queue_ns"]),
                us(row["messages_ns"]),
                row["messages"],
                us(row["limit_ns"]),
                *compared_cells(p, at),
            ]
            for at, row in enumerate(p.rows)
        ],
        right=(0, 1, 2, 3, 4, *range(6, 7 + len(p.compared))),
    )


def show(p: Prediction) -> None:
    print(
        f"{p.options.collective}, {p.ranks} ranks {MAPS[p.options.map]}, on"
        f" {p.name}{described.doubt_text(p.doubt)}: by time"
        f" models{'' if p.compared else ', nothing is measured or simulated'}"
    )
    show_machine(p)
    if p.options.collective == "bcast":
        show_trees(p)
        show_broadcast(p)
    elif p.options.collective != "barrier" or p.compared:
        show_limits(p)
    if p.options.collective == "bcast":
        best = p.recommended()
        print(
            f"  recommended for back-to-back messages up to {bytes_text(p.sizes[-1])} (as many"
            f" buffers as the queue holds, at least two): {best}"
        )
    for note in p.notes:
        print(f"  {note}")


def check_queue(options: Options, layout: Layout) -> None:
    """
    Checks that bcast/queue accepts b, f, s and q, and their combination.  Missing options get the
    defaults of QUEUE.
    """
    for name, usual in QUEUE.items():
        given = getattr(options, name)
        if given is not None and (options.collective != "bcast" or options.fit):
            raise CliError(
                f"--{name}:"
                f" {'--fit tries its own' if options.fit else f'{options.collective} has none'}"
                " (accepted: with predicted broadcasts)",
                BAD_USE,
            )
        setattr(options, name, usual if given is None else given)
    algorithm = next(
        row
        for row in layout.ask("info", "algorithms")
        if (row["collective"], row["name"]) == ("bcast", "queue")
    )
    largest = {row["name"]: row["max"] for row in algorithm["parameters"]}
    bytes_within("--queue", options.queue, PAGE, largest["budget"])
    if options.fragment is not None:
        bytes_within("--fragment", options.fragment, PAGE, min(largest["fragment"], options.queue))
        if options.fragment % PAGE:
            raise CliError(
                f"--fragment {options.fragment}: not possible (accepted: multiples of"
                f" {sizes.written(PAGE)})",
                BAD_USE,
            )
    if options.buffers:
        within(
            "--buffers",
            options.buffers,
            1,
            min(largest["buffers"], options.queue // (options.fragment or PAGE)),
        )
    within("--sets", options.sets, 1, largest["sets"])


def sizes_to_predict(options: Options) -> list[int]:
    if options.collective == "barrier" and options.bytes:
        raise CliError("--bytes: a barrier has none", BAD_USE)
    if options.bytes and not options.bytes[0]:
        raise CliError("--bytes 0: nothing to predict (accepted: sizes from 1)", BAD_USE)
    return [0] if options.collective == "barrier" else options.bytes or sizes_of(SIZES)


def show_fit(options: Options, layout: Layout) -> int:
    if options.collective != "bcast" or options.machine != machines.THIS:
        raise CliError(
            "--fit measures broadcasts on this machine (accepted: huddle lab model bcast --fit)",
            BAD_USE,
        )
    if options.ranks and not 2 <= options.ranks <= 1024:
        raise CliError(f"--ranks {options.ranks}: a team has 2 to 1024 processes", BAD_USE)
    found = fit.Fit(
        layout, options, sizes_to_predict(options) if options.bytes else sizes_of(FIT_SIZES)
    )
    if options.json:
        print(json.dumps(found.as_json(), indent=2))
    else:
        fit.show(found)
    return DONE


def main(options: Options, _command: list[Any], layout: Layout) -> int:
    if options.machine == "list":
        machines.show(layout)
        return DONE
    about = collectives.find(layout, options.collective, "model")
    if not about.limits:
        limited = [c.name for c in collectives.known(layout) if c.limits]
        raise CliError(
            f"model {about.name}: the models have no limit for it (accepted: {', '.join(limited)})",
            BAD_USE,
        )
    options.collective = about.name
    if options.nodes is not None:
        return nodes.main(options, layout)
    if options.network:
        raise CliError("--network: of nodes (accepted: with --nodes)", BAD_USE)
    output_files.check("--plot", options.plot)
    if options.plot and not about.moves:
        raise CliError(
            f"--plot: a {about.name} has one time, no curve (accepted: collectives with bytes)",
            BAD_USE,
        )
    if options.plot and pictures.missing():
        raise CliError(f"--plot {options.plot}: {pictures.missing()}")
    check_queue(options, layout)
    if options.fit:
        return show_fit(options, layout)
    sizes_wanted = sizes_to_predict(options)
    prediction = Prediction(layout, options, load_machine(layout, options.machine), sizes_wanted)
    if options.simulate or options.measure:
        prediction.compared = compared.times(prediction)
    if options.json:
        print(json.dumps(prediction.as_json(), indent=2))
    else:
        show(prediction)
    if options.plot:
        picture.draw(prediction, options.plot)
    return DONE


COMMAND = Command(main, PARAMETERS, EPILOG)
