# SPDX-License-Identifier: BSD-3-Clause
"""huddle info: prints the machine, a team on it, the MPIs found, the settings in effect."""

import json
import os

from .common import bad_settings, mpis
from .common.options import MAX_STARTED, whole
from .common.text import bytes_text, heading, ranges_text, table

POOL = "/sys/kernel/mm/hugepages/hugepages-2048kB"


def add_arguments(parser):
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--brief",
        action="store_true",
        help="print some lines: is my MPI supported, is a team ready",
    )
    parser.add_argument(
        "--ranks",
        type=whole(1, MAX_STARTED),
        metavar="N",
        help="processes of the team (default: one per processor that may be used, at most 8)",
    )
    parser.add_argument(
        "--bind",
        choices=("core", "none"),
        default="core",
        help="bind the team's processes to cores in turn, or not at all",
    )


def huge_pages():
    """What the system's pool of huge pages of 2 MB has."""
    pages = {}
    for name in ("free", "nr"):
        try:
            with open(f"{POOL}/{name}_hugepages", encoding="ascii") as file:
                pages[name] = int(file.read())
        except OSError:
            pages[name] = 0
    return {"pool_free": pages["free"], "pool_total": pages["nr"]}


def collect(options, layout):
    ranks = options.ranks or max(2, min(8, len(os.sched_getaffinity(0))))
    return {
        "version": layout.ask("version"),
        "machine": layout.ask("info", "machine"),
        "team": layout.ask("team", "--ranks", str(ranks), "--bind", options.bind),
        "mpis": mpis.on_path(layout),
        "algorithms": layout.ask("info", "algorithms"),
        "huge_pages": huge_pages(),
        "settings": layout.ask("info", "settings"),
    }


def show_machine(machine):
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
        print("  no level of the memory hierarchy is shared by some cores and not by all")


def show_pages(members):
    """
    Where each member's slice lies; nodes are counted, so that one line says it even for long
    slices.
    """
    rows = []
    for member in members:
        lease, pages = member["team"]["lease"], member["team"]["pages"]
        nodes = ", ".join(
            (
                f"{pages['nodes'].count(n)} on {n}"
                if n >= 0
                else f"{pages['nodes'].count(n)} not present"
            )
            for n in sorted(set(pages["nodes"]))
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


def show_huge_pages(members, system):
    """Whose arenas have huge pages, of what kind, and what the system could give."""
    kinds = {}
    for member in members:
        kinds.setdefault(member["team"]["pages"]["kind"], []).append(member)
    parts = []
    for kind, having in kinds.items():
        huge = sum(member["team"]["pages"]["huge_bytes"] for member in having)
        who = "all ranks" if len(kinds) == 1 else f"{len(having)} ranks"
        parts.append(f"{who}: {kind}" + (f" ({bytes_text(huge)} now)" if huge else ""))
    print(
        f"  pages (HUDDLE_HUGE_PAGES): {'; '.join(parts)}; of 2 MB the system's pool has"
        f" {system['pool_free']} of {system['pool_total']} free"
    )


def show_choices(choices):
    """Which algorithm serves which sizes, and which rule decided."""
    rows = []
    for collective, pieces in choices.items():
        for piece in pieces:
            most = (
                f"to {bytes_text(piece['max_bytes'])}"
                if piece["max_bytes"] is not None
                else "any" if piece["min_bytes"] == 0 else "above"
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


def show_team(team, system):
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
        f" handled, all bytes correct; a waiting rank begins with: {first['waits']}"
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


def show_settings(settings):
    heading("Settings (huddle settings says what each does)")
    for line in bad_settings.lines(settings):
        print(f"  {line}")
    table(
        ["setting", "value", "from"],
        [[s["name"], s["value"], s["origin"]] for s in settings["settings"]],
    )


def show(facts, layout):
    print(
        f"huddle {facts['version']}, libraries in {layout.libs} (huddle info --brief: some lines)"
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


def show_brief(facts):
    """Will calls be handled, and by which choice of memory and groups."""
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
        groups = "; ".join(
            f"{len(level['groups'])} of {level['level']}" for level in first["levels"]
        )
        print(
            f"  a team of {facts['team']['ranks']} processes works: groups {groups}; single copy:"
            f" {first['single_copy']}"
        )
    else:
        print(f"  a team handles no calls: {first.get('reason', first['state'])}")
    changed = [s for s in facts["settings"]["settings"] if s["origin"] != "default"]
    words = ", ".join(f"{s['name']}={s['value']}" for s in changed if s["name"] != "HUDDLE_JOB")
    for line in bad_settings.lines(facts["settings"]) or [words or "all are the defaults"]:
        print(f"  settings: {line}")


def main(options, _command, layout):
    facts = collect(options, layout)
    if options.json:
        print(json.dumps(facts, indent=2))
    elif options.brief:
        show_brief(facts)
    else:
        show(facts, layout)
    return 0
