# SPDX-License-Identifier: BSD-3-Clause
"""
The question of huddle lab simulate: what its options ask for, and the call of the simulator for
each algorithm and size.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from cli.common import machines
from cli.common.collectives import find, known
from cli.common.command_line import options_from
from cli.common.exit_status import BAD_USE
from cli.common.launching import settings_of
from cli.common.layout import CliError, Layout
from cli.common.options import MAPS, sizes_of
from cli.common.progress import Progress
from cli.common.types import Options

from .. import described, repetitions, simulated
from .alternate import Alternate, without_handover
from .options import OPTIONS, PAIR_SIZES, PARAMETERS, SIZES, check_meaning, parameters

if TYPE_CHECKING:
    from cli.common.collectives import Collective


def load_machine(layout: Layout, name: str) -> Any:
    if name != machines.THIS:
        return machines.load(layout, name)
    if not os.path.exists(described.measured_file()):
        raise CliError(
            f"--machine {name}: not described yet: there is no {described.measured_file()}, which"
            " huddle lab machine writes (accepted: --machine with"
            f" {', '.join(machines.names(layout))}, or a file NAME.toml)",
            BAD_USE,
        )
    return machines.read(described.measured_file())


def parse_simulation(layout: Layout, *words: str) -> Simulation:
    """Returns the question of huddle lab simulate WORDS."""
    return Simulation(options_from("huddle lab simulate", PARAMETERS, words), layout)


class Simulation:
    """A question to the simulator: the options of all its calls."""

    def __init__(self, options: Options, layout: Layout) -> None:
        self.options, self.layout = options, layout
        self.about = find(layout, options.collective, "simulate")
        self.collective = self.about.name
        rows = layout.ask("info", "algorithms")
        algorithms = [row for row in rows if row["collective"] == self.collective]
        self.alternate = options.alternate and Alternate(options.alternate, rows, layout)
        self.names = self.choose([row["name"] for row in algorithms])
        self.params, self.settings = parameters(options.param), settings_of(options.set, layout)
        self.check_params(
            {row["name"]: [p["name"] for p in row["parameters"]] for row in algorithms}
        )
        check_meaning(options, self.about, [c.name for c in known(layout) if c.rooted])
        self.sizes = (
            [0]
            if not self.about.moves
            else options.bytes or sizes_of(PAIR_SIZES if self.about.blocks else SIZES)
        )
        self.single = len(self.names) == len(self.sizes) == 1
        if options.timeline and (not self.single or options.method == "loop"):
            raise CliError(
                "--timeline: needs a single call (accepted: one algorithm and one size, --method"
                " single)",
                BAD_USE,
            )
        self.traced = (
            self.single
            and options.method == "single"
            and bool(options.timeline or options.png or options.json)
        )
        self.machine = load_machine(layout, options.machine)
        self.machine_facts = self.run_program({"machine": self.machine})["machine"]
        self.machine_words = described.words(options.machine, self.machine)
        self.start_ns: float = 0  # subtracted from simulated times
        self.small_calls: int | None = None  # None: that of common/repetitions.py
        self.ranks = options.ranks if options.ranks is not None else self.machine_facts["cores"]
        if not 2 <= self.ranks <= self.machine_facts["cores"]:
            raise CliError(
                f"--ranks {self.ranks}: needs one core per rank (accepted: 2 to"
                f" {self.machine_facts['cores']})",
                BAD_USE,
            )

    def choose(self, known: list[str]) -> list[Any]:
        """Returns the names of algorithms.  None is huddle's own choice."""
        if self.options.algorithm is None:
            return [None]
        asked = self.options.algorithm
        names = known if asked == "all" else list(dict.fromkeys(asked.split(",")))
        for name in names:
            if name not in known:
                which = (
                    ""
                    if name == asked
                    else f", {name!r}"
                    if name != "all"
                    else ", which must be alone"
                )
                raise CliError(
                    f"--algorithm {asked}: {self.collective} has no such algorithm{which}"
                    f" (accepted: {', '.join(known)}, with commas; or all)",
                    BAD_USE,
                )
        return names

    def check_params(self, known: dict[str, list[str]]) -> None:
        if self.params and (len(self.names) != 1 or self.names[0] is None):
            raise CliError(
                "--param: needs an algorithm (accepted: with --algorithm and one name)", BAD_USE
            )
        for name in self.params:
            if name not in known[self.names[0]]:
                raise CliError(
                    f"--param {name}: {self.collective}/{self.names[0]} has no such parameter"
                    f" (accepted: {', '.join(known[self.names[0]]) or 'none'})",
                    BAD_USE,
                )

    def setting_of(self, name: str | None, key: str) -> str:
        """Returns the setting of an algorithm's parameter."""
        return f"HUDDLE_LAB_{self.collective}_{name}_{key}".upper()

    def environment(self, name: str | None) -> dict[str, str]:
        forced = (
            {
                f"HUDDLE_{self.collective}".upper(): name,
                **{self.setting_of(name, key): value for key, value in self.params.items()},
            }
            if name
            else {}
        )
        return {**self.settings, **self.alternate_forced(), **forced}

    def alternate_forced(self) -> dict[str, str]:
        """
        Returns the other algorithm's setting.  A plan has both algorithms unless they are of the
        same collective.
        """
        other = self.alternate and self.alternate.about.name != self.collective
        return self.alternate.forced() if other else {}

    def as_said(self, name: str | None, error: str) -> str:
        """Rewrites an error about a setting to name the --param that the user gave."""
        for key in self.params:
            error = error.replace(f"{self.setting_of(name, key)}=", f"--param {key}=")
        return error

    def resolve(self, name: str | None, size: int) -> dict[str, Any] | None:
        """
        Returns the library's choice {"algorithm", "parameters", "slot_bytes"}, or None if the call
        falls back to the MPI.
        """
        return self.serves(self.about, size, self.environment(name), name)

    def serves(
        self, about: Collective, size: int, environment: dict[str, str], name: str | None = None
    ) -> Any:
        """Returns the library's choice, as resolve() does, for any collective."""
        answer = self.layout.ask(
            "explain",
            about.name,
            str(size if about.sized else 0),
            str(self.ranks),
            self.options.map,
            *self.machine_words,
            **environment,
        )
        if answer["error"]:
            raise CliError(self.as_said(name, answer["error"]), BAD_USE)
        self.why = answer["why"]["by"]  # reason of the latest call; printed if no call is handled
        return answer["serves"]

    def setting(self, name: str) -> str:
        return self.settings.get(name, os.environ.get(name, ""))

    def run_program(self, request: dict[str, Any]) -> dict[str, Any]:
        return self.layout.question(
            "simulate",
            request,
            {
                "machine": f"--machine {self.options.machine}",
                "alternate": f"--alternate {self.options.alternate}",
                **{key: f"--{key}" for key in OPTIONS},
            },
        )

    def call(self, name: str | None, size: int) -> dict[str, Any] | None:
        """Returns the simulator's answer, or None if the algorithm does not handle the call."""
        serves, o = self.resolve(name, size), self.options
        if not serves:
            return None
        common = {
            key: value
            for key, value in (("repetitions", o.repetitions), ("warmup", o.warmup))
            if value is not None
        }
        request = {
            "machine": self.machine,
            "collective": self.collective,
            "algorithm": serves["algorithm"],
            "parameters": serves["parameters"],
            "slot_bytes": serves["slot_bytes"],
            "bytes": size,
            "ranks": self.ranks,
            "map": o.map,
            "root": o.root or 0,
            "method": o.method,
            **repetitions.calls(serves["slot_bytes"], size, self.small_calls),
            **common,
            "skew_ns": o.skew or 0,
            "seed": o.seed,
            "trace": self.traced,
            "levels_off": self.setting("HUDDLE_LAB_LEVELS_OFF"),
            "placement": "off" if self.setting("HUDDLE_LAB_PLACEMENT") in ("off", "0") else "on",
        }
        if self.alternate:
            request["shared"] = serves["shared"]
            request["alternate"] = self.between(name, size)
        answer = self.simulated(request)
        if self.alternate and self.single and answer["alternate"]["handover"]:
            answer["without_handover_ns"] = self.simulated(without_handover(request))["times"][
                "time_ns"
            ]
        answer["skew_ns"] = o.skew or 0
        answer["times"] = {what: ns - self.start_ns for what, ns in answer["times"].items()}
        return answer

    def between(self, name: str | None, size: int) -> dict[str, Any]:
        """Returns the request's part about the calls of --alternate."""
        other = self.alternate
        shares = other.about.name != self.collective
        environment = self.environment(name) if shares else {**self.settings, **other.forced()}
        serves = self.serves(other.about, size, environment, name)
        return other.request(serves, self.why, size)

    def simulated(self, request: dict[str, Any]) -> dict[str, Any]:
        """Returns the simulator's answer.  Raises CliError if the checker has found a fault."""
        answer = self.run_program(request)["call"]
        return simulated.clean(answer, self.collective, request["algorithm"])

    def calls(self) -> dict[Any, Any]:
        """
        Returns {(name, size): answer}. The longest run is first, so that sizes too large fail
        early.
        """
        found = {}
        with Progress(len(self.sizes) * len(self.names), "simulating") as progress:
            for name, size in (
                (name, size) for size in reversed(self.sizes) for name in self.names
            ):
                found[name, size] = self.call(name, size)
                progress.step()
        return {(name, size): found[name, size] for size in self.sizes for name in self.names}

    def words(self) -> str:
        return (
            f"{self.ranks} ranks {MAPS[self.options.map]}, on"
            f" {self.machine['name']}{described.doubt_text(self.machine.get('doubt'))}"
            f"{f', each after one of {self.alternate.asked}' if self.alternate else ''}"
        )
