# SPDX-License-Identifier: BSD-3-Clause
"""huddle info: prints the machine, a team on it, the MPIs found, the settings in effect."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from .common import bad_settings, mpis
from .common.command_line import Command, Option
from .common.exit_status import DONE
from .common.layout import Layout
from .common.options import MAX_STARTED, whole
from .common.text import bytes_text, count_text, heading, ranges_text, table
from .common.types import Options

POOL = "/sys/kernel/mm/hugepages/hugepages-2048kB"


PARAMETERS = (
    Option("--json", is_flag=True, help="print JSON"),
    Option(
        "--brief",
        is_flag=True,
        help="print a few lines: which MPIs are supported, and whether a test team works",
    ),
    Option(
        "--ranks",
        type=whole(1, MAX_STARTED),
        metavar="N",
        help=(
            "number of processes of the test team (default: one per usable processor, at most 8)"
        ),
    ),
    Option(
        "--bind",
        choices=("core", "none"),
        default="core",
        help=(
            "core: bind the processes of the test team to cores in turn "
            "(default); none: do not bind them"
        ),
    ),
)


def huge_pages() -> dict[str, int]:
    """Returns the free and total huge pages of 2 MB in the system's pool."""
    pages = {}
    for name in ("free", "nr"):
        try:
            with open(f"{POOL}/{name}_hugepages", encoding="ascii") as file:
                pages[name] = int(file.read())
        except OSError:
            pages[name] = 0
    return {"pool_free": pages["free"], "pool_total": pages["nr"]}


def collect(options: Options, layout: Layout) -> dict[str, Any]:
    ranks = options.ranks or max(2, min(8, len(os.sched_getaffinity(0))))
    settings = layout.ask("info", "settings")
    team, messages = layout.hear("team", "--ranks", str(ranks), "--bind", options.bind)
    if not settings["error"]:  # errors are shown with the settings
        sys.stderr.write(messages)
    return {
        "version": layout.ask("version"),
        "machine": layout.ask("info", "machine"),
        "team": team,
        "mpis": mpis.on_path(layout),
        "algorithms": layout.ask("info", "algorithms"),
        "huge_pages": huge_pages(),
        "settings": settings,
    }


def show_machine(machine: dict[str, Any]) -> None:
    heading(
        f"Machine: {machine['sockets']} socket(s), {machine['cores']} cores, processors"
        f" {machine['processors']}"
    )
    table(
        ["NUMA node", "memory", "processors"],
        [[n["node"], bytes_text(n["bytes"]), n["processors"]] for n in machine["numa_nodes"]],
        right=(0, 1),
    )
    if machine["levels"]:
        table(
            ["level", "units", "processors of each"],
            [
                [
                    " = ".join([level["name"], *level["also"]]),
                    len(level["units"]),
                    " | ".join(level["units"]),
                ]
                for level in machine["levels"]
            ],
            right=(1,),
        )
    else:
        print("  no level of the memory hierarchy is shared by only some of the cores")


def show_pages(members: list[dict[str, Any]]) -> None:
    """
    Prints the node of each member's slice.  Counts pages per node, so that a line suffices for long
    slices.
    """
    rows = []
    for member in members:
        lease, pages = member["team"]["lease"], member["team"]["pages"]
        nodes = ", ".join(
            (
                f"{pages['nodes'].count(n)} on {n}"
                if n >= 0
                else f"{pages['nodes'].count(n)} not used yet"
            )
            for n in sorted(set(pages["nodes"]), key=lambda n: (n < 0, n))
        )
        rows.append(
            [
                member["rank"],
                member["cpu"] if member["cpu"] >= 0 else "any",
                pages["own_node"] if pages["own_node"] >= 0 else "any",
                bytes_text(lease["bytes"]),
                nodes or "not known",
                pages["elsewhere"],
            ]
        )
    table(
        ["rank", "processor", "own node", "slice", "pages on nodes", "elsewhere"],
        rows,
        right=(0, 1, 2, 3, 5),
    )


def show_huge_pages(members: list[dict[str, Any]], system: dict[str, int]) -> None:
    """Prints the kinds of huge pages in the arenas, and the system's pool."""
    kinds: dict[Any, Any] = {}
    for member in members:
        kinds.setdefault(member["team"]["pages"]["kind"], []).append(member)
    parts = []
    for kind, having in kinds.items():
        huge = sum(member["team"]["pages"]["huge_bytes"] for member in having)
        who = "all ranks" if len(kinds) == 1 else f"{len(having)} ranks"
        parts.append(f"{who}: {kind}" + (f" ({bytes_text(huge)} now)" if huge else ""))
    print(
        f"  pages (HUDDLE_HUGE_PAGES): {'; '.join(parts)}; pages of 2 MB in the system's pool:"
        f" {system['pool_free']} of {system['pool_total']} free"
    )


def show_choices(choices: dict[str, list[dict[str, Any]]]) -> None:
    """Prints the algorithm of each size, and the rule behind the choice."""
    rows = []
    for collective, pieces in choices.items():
        for piece in pieces:
            most = (
                f"to {bytes_text(piece['max_bytes'])}"
                if piece["max_bytes"] is not None
                else "any"
                if piece["min_bytes"] == 0
                else "above"
            )
            serves, why = piece["serves"], piece["why"]
            parameters = " ".join(
                f"{name}={value}" for name, value in (serves or {}).get("parameters", {}).items()
            )
            line = f"{why['file']}, line {why['line']}" if "line" in why else why["by"]
            rows.append(
                [
                    collective,
                    most,
                    serves["algorithm"] if serves else "the MPI's own",
                    parameters,
                    line,
                ]
            )
    table(["collective", "size", "algorithm", "parameters", "decided by"], rows)


def show_team(team: dict[str, Any], system: dict[str, int]) -> None:
    first = team["members"][0]["team"]
    heading(
        f"A team of {team['ranks']} processes,"
        f" {'bound to cores in turn' if team['bind'] == 'core' else 'unbound'}"
    )
    if first["state"] != "ready":
        print(f"  handles no calls: {first.get('reason', first['state'])}")
        return
    calls = sum(m["calls"] for m in team["members"])
    print(
        f"  {sum(m['handled'] for m in team['members'])} of {calls} barriers and broadcasts"
        f" handled, all bytes correct; a waiting rank first uses: {first['waits']}"
    )
    table(
        ["level", "groups"],
        [
            [level["level"], " | ".join(ranges_text(group) for group in level["groups"])]
            for level in first["levels"]
        ],
    )
    print(
        f"  the team uses {bytes_text(first['lease']['bytes'])} of the"
        f" {bytes_text(first['lease']['arena_bytes'])} of each rank (HUDDLE_MEMORY)"
    )
    print(f"  single copy between ranks (HUDDLE_CMA, HUDDLE_XPMEM): {first['single_copy']}")
    show_huge_pages(team["members"], system)
    show_pages(team["members"])
    show_choices(first["choices"])


def show_settings(settings: dict[str, Any]) -> None:
    heading("Settings (huddle settings prints what each does)")
    for line in bad_settings.lines(settings):
        print(f"  {line}")
    table(
        ["setting", "value", "from"],
        [
            [s["name"], bad_settings.value_of(s), bad_settings.origin_of(s)]
            for s in settings["settings"]
            if not s["lab"] or bad_settings.origin_of(s) != "default"
        ],
    )


def show(facts: dict[str, Any], layout: Layout) -> None:
    print(
        f"huddle {facts['version']}, libraries in {layout.libs} (huddle info --brief: a few lines)"
    )
    show_machine(facts["machine"])
    show_team(facts["team"], facts["huge_pages"])
    heading("MPIs on PATH")
    table(
        ["mpi", "launcher", "front end"],
        [
            [m["mpi"], m["command"], m["path"] or f"none built ({m['front_end']})"]
            for m in facts["mpis"]
        ],
    )
    heading("Algorithms")
    table(
        ["collective", "algorithm", "what it does"],
        [[a["collective"], a["name"], a["doc"]] for a in facts["algorithms"]],
    )
    show_settings(facts["settings"])


def groups_text(levels: list[dict[str, Any]]) -> str:
    """Formats the groups of each level: '2 groups by l3', or 'one group of all ranks'."""
    parts = [
        f"{count_text(len(level['groups']), 'group')} by {level['level']}"
        for level in levels
        if len(level["groups"]) > 1
    ]
    return ", ".join(parts) or "one group of all ranks"


def show_brief(facts: dict[str, Any]) -> None:
    """Prints whether calls will be handled, and the choice of memory and groups."""
    machine, first = facts["machine"], facts["team"]["members"][0]["team"]
    print(
        f"huddle {facts['version']}; {machine['sockets']} socket(s), {machine['cores']} cores,"
        f" {len(machine['numa_nodes'])} NUMA node(s)"
    )
    for one in facts["mpis"]:
        print(f"  {one['mpi']}: {'supported' if one['path'] else 'no front end built'}")
    if not facts["mpis"]:
        print("  no MPI on PATH")
    if first["state"] == "ready":
        print(
            f"  a team of {facts['team']['ranks']} processes works: {groups_text(first['levels'])};"
            f" single copy: {first['single_copy']}"
        )
    else:
        print(f"  a team handles no calls: {first.get('reason', first['state'])}")
    changed = [s for s in facts["settings"]["settings"] if s["origin"] != "default"]
    words = ", ".join(f"{s['name']}={s['value']}" for s in changed if s["name"] != "HUDDLE_JOB")
    for line in bad_settings.lines(facts["settings"]) or [words or "all are the defaults"]:
        print(f"  settings: {line}")


def main(options: Options, _command: list[Any], layout: Layout) -> int:
    facts = collect(options, layout)
    if options.json:
        print(json.dumps(facts, indent=2))
    elif options.brief:
        show_brief(facts)
    else:
        show(facts, layout)
    return DONE


COMMAND = Command(main, PARAMETERS)
