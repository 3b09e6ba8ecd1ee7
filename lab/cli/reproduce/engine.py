# SPDX-License-Identifier: BSD-3-Clause
"""
Computes the rows and figures of a paper from its file, papers/NUMBER.toml, which has the published
figures, the machine and the calls.

A file has `title`, `about`, `machine` and `notes`, and these tables:

* `call`: fields of every simulated call; `forms.NAME`: those of one form of a collective. Keys that
  are no field of a request (lab/sim/run/request.h) are parameters of the algorithm.
* `machines.NAME`: a variant of the machine, or of the machine `of`; `change` has its changed keys.
* `let`: names for expressions. `brief` has the keys that --brief replaces.
* `end`: `machines` that are further ends of ranges, and fields of the `calls` at all ends.
* `part`: rows and figures that belong together, computed in turn. `range = true` computes the rows
  also at the ends of the unmeasured numbers. `again` repeats rows, by their `id`, on the machine
  `on`, without verdicts.

A row has `what`, `unit`, and `published` (with `cite`, its place in the paper). The expression
`here` computes its value, or the template `text` formats it. `agrees` names the criterion
(rows.py), or `holds` computes it. A `check` of our own needs no published figure. With --brief, a
row is compared only where `in_brief` is true. A `figure` has a `line` for each curve.

`each` repeats a part, a row, a figure or a line, with other names; `when` leaves it out.
Expressions are Python's, templates are f-strings. Both use the functions of Bench: the files are
code as the modules next to them are.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cli.common import machines
from cli.common.layout import CliError, Layout
from cli.common.pictures import Figure
from cli.common.text import bytes_text

from .. import simulated
from . import smpi
from .rows import Result, Row, criterion, found, good_as_printed
from .unmeasured import ends, ranged, scaled

if TYPE_CHECKING:
    from types import CodeType

    from .command import Lab

    Table = Mapping[str, Any]

FOLDER = os.path.join(os.path.dirname(__file__), "papers")
FUNCTIONS = (  # methods of Bench for expressions
    "us answer measured_us first_us fastest_us chosen_us choice model own_copies_ns simgrid_ms"
    " machine"
).split()
KB, MB, SIMULATED = 1 << 10, 1 << 20, "simulated"
FIELDS = set(
    "collective algorithm bytes ranks map levels_off placement root root_shift method repetitions"
    " warmup slot_bytes used_bytes nodes".split()
)


def contents(paper: str) -> dict[str, Any]:
    """Reads the file of a paper."""
    if machines.tomllib is None:
        raise CliError("papers need Python 3.11, or the package tomli")
    with open(os.path.join(FOLDER, f"{paper}.toml"), "rb") as file:
        found: dict[str, Any] = machines.tomllib.load(file)
    return found


def merged(table: Table, over: Table) -> dict[str, Any]:
    """Returns the table with another table's values in place of its own, recursively."""
    return {
        **table,
        **{
            key: merged(table[key], value) if isinstance(value, dict) and key in table else value
            for key, value in over.items()
        },
    }


def changed(table: Table, path: list[str], value: Any) -> dict[str, Any]:
    """Returns the table with another value at a path of keys."""
    first, *rest = path
    return {**table, first: changed(table[first], rest, value) if rest else value}


def names_in(code: CodeType) -> Iterator[str]:
    """Yields the names in an expression and in its functions."""
    yield from code.co_names
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            yield from names_in(constant)


class Names:
    """The names that expressions use: values, and expressions that are computed at first use."""

    def __init__(self, values: Table, lets: Table) -> None:
        self.values, self.lets = dict(values), dict(lets)

    def inner(self, lets: Table, values: Table) -> Names:
        """Returns the names extended by an inner table's, which outer expressions see as well."""
        kept = {name: value for name, value in self.values.items() if name not in lets}
        return Names({**kept, **values}, {**self.lets, **lets})

    def value(self, expression: Any) -> Any:
        """Evaluates an expression.  A value other than text stands for itself."""
        if not isinstance(expression, str):
            return expression
        code = compile(expression, expression, "eval")
        for name in names_in(code):
            if name in self.lets and name not in self.values:
                self.values[name] = self.value(self.lets[name])
        return eval(code, self.values)

    def text(self, template: str) -> str:
        return str(self.value(f"f{template!r}"))


class Remembering(Layout):
    """A layout that asks each question once."""

    def __init__(self, layout: Layout) -> None:
        self.__dict__.update(vars(layout))
        self.known: dict[str, dict[str, Any]] = {}

    def question(
        self, name: str, question: dict[str, Any], names: dict[str, str] | None = None
    ) -> dict[str, Any]:
        key = json.dumps([name, question])
        if key not in self.known:
            self.known[key] = super().question(name, question, names)
        return self.known[key]


def gain(new: float, old: float) -> float:
    """Returns the relative change in %: -30 for 30 % less."""
    return 100 * (new / old - 1)


def variation(times: list[float]) -> float:
    """Returns the coefficient of variation of a sample, in %."""
    return 100 * statistics.stdev(times) / statistics.mean(times)


class Bench:
    """A paper's calls on its machine, or on that machine with other numbers."""

    def __init__(self, lab: Lab, about: Table, layout: Layout, base: Any, calls: Any = ()) -> None:
        """
        Stores `base`, the description of the machine, and `calls`, further fields for the calls of
        measured_us.
        """
        self.lab, self.about, self.layout, self.base = lab, about, layout, base
        self.calls, self.machines = dict(calls), {"": base}
        values = {name: getattr(self, name) for name in FUNCTIONS}
        values |= dict(KB=KB, MB=MB, brief=lab.brief, simgrid_here=smpi.here(lab.layout))
        values |= dict(gain=gain, variation=variation, bytes_text=bytes_text)
        values |= dict(good_as_printed=good_as_printed, measured=simulated.MEASURED)
        values |= dict(simgrid_missing=smpi.MISSING)
        self.names = Names(values, about.get("let", {}))

    def machine(self, name: str = "") -> dict[str, Any]:
        """Returns the description of the machine, or of a variant by its name."""
        if name not in self.machines:
            about = self.about["machines"][name]
            machine = self.lab.machine(about["of"]) if "of" in about else self.base
            for path, value in about.get("change", {}).items():
                names = Names({**machine, "scaled": scaled}, {})
                machine = changed(machine, path.split("."), names.value(value))
            self.machines[name] = machine
        return self.machines[name]

    def fields(self, form: Any, fields: Table) -> dict[str, Any]:
        """Returns the fields of a request.  `form` is a name, or has fields of its own."""
        about = self.about["forms"][form] if isinstance(form, str) else form
        call = {**self.about.get("call", {}), **about, **fields}
        parameters = {key: value for key, value in call.items() if key not in FIELDS}
        return {key: call[key] for key in call if key in FIELDS} | {"parameters": parameters}

    def answer(self, form: Any, /, size: int = 0, on: str = "", **fields: Any) -> dict[str, Any]:
        """Returns the simulator's whole answer.  `on` names a variant of the machine."""
        call = self.fields(form, fields)
        return simulated.call(self.layout, self.machine(on), size=size, **call)

    def us(self, form: Any, /, size: int = 0, on: str = "", **fields: Any) -> float:
        return self.answer(form, size, on, **fields)["times"]["time_ns"] / 1000

    def measured_us(self, form: Any, /, size: int = 0, on: str = "", **fields: Any) -> float:
        """Measures by the method of simulated.MEASURED."""
        call = {**self.fields(form, fields), **self.calls}
        return simulated.measured_ns(self.layout, self.machine(on), size=size, **call) / 1000

    def first_us(self, form: Any, /, size: int = 0, on: str = "", **fields: Any) -> float:
        """Returns the time of one call after a warm-up."""
        call = self.fields(form, fields)
        us: float = simulated.once(self.layout, self.machine(on), size=size, **call)[0] / 1000
        return us

    def fastest_us(self, forms: Table, size: int, on: str = "") -> tuple[float, str]:
        """Returns time and name of the fastest form, by the method of simulated.MEASURED."""
        ways = [(name, {**self.fields(form, {}), "size": size}) for name, form in forms.items()]
        ns, name = simulated.fastest_ns(self.layout, self.machine(on), ways)
        return ns / 1000, name

    def chosen_us(self, collective: str, size: int, ranks: int) -> float | None:
        """
        Measures huddle's choice by the same method.  Returns None if the call falls back to the
        MPI.
        """
        ns = simulated.chosen_measured_ns(self.layout, self.base, collective, size, ranks)
        return ns and ns / 1000

    def choice(self, collective: str, size: int, ranks: int) -> dict[str, Any] | None:
        """Returns the form that huddle chooses, or None if the call falls back to the MPI."""
        words = machines.words(self.base, self.base["name"])
        alike = simulated.SHARED_MEMORY
        serves = simulated.choice(self.layout, words, collective, size, ranks, **alike)
        return serves and {
            **serves["parameters"],
            "algorithm": serves["algorithm"],
            "slot_bytes": serves["slot_bytes"],
        }

    def model(self, question: str, **more: Any) -> dict[str, Any]:
        """Returns the answer of a time model (lab/tools/model.c)."""
        return self.layout.question("model", {"ask": question, **more})

    def own_copies_ns(self, size: int, cores: list[int], repetitions: int, on: str = "") -> float:
        """Returns the time of cores that share nothing (lab/sim/run/own_copies.h)."""
        request = {"bytes": size, "cores": cores, "repetitions": repetitions}
        question = {"machine": self.machine(on), "own_copies": request}
        ns: float = self.layout.question("simulate", question)["own_copies"]["time_ns"]
        return ns

    def simgrid_ms(self, network: Table, ranks: int, points: list[Any]) -> list[float]:
        """Returns the time of each of the points (tree, degree, segment, bytes)."""
        alpha, beta = network["alpha_ns"], network["beta_ns"]
        return [ns / 1e6 for ns in smpi.run(self.layout, alpha, beta, ranks, points)]

    # ---- rows and figures ------------------------------------------------------------------------

    def scopes(self, table: Table, names: Names) -> Iterator[tuple[Table, Names]]:
        """Yields the table with its names, as often as its `each` says."""
        for values in names.value(table.get("each", [{}])):
            inner = names.inner(table.get("let", {}), values)
            if inner.value(table.get("when", True)):
                yield {**table, **values}, inner

    def rows(self, part: Table, ids: Sequence[str] = ()) -> Iterator[Row]:
        """Yields the part's rows with these ids, or all rows if there are none."""
        if "again" in part and not ids:
            yield from self.again(part)
        for _, names in self.scopes(part, self.names):
            for one in part.get("row", ()):
                for about, inner in self.scopes(one, names):
                    if not ids or about.get("id") in ids:
                        yield self.row(about, inner)

    def row(self, about: Table, names: Names) -> Row:
        here = names.text(about["text"]) if "text" in about else names.value(about["here"])
        published = about.get("published")
        if "published_from" in about:
            published = names.value(about["published_from"])
        by = about.get("by", self.about.get("by", SIMULATED))
        row = Row(names.text(about["what"]), about.get("unit", ""), published, here, by)
        row = row._replace(cite=about.get("cite", ""))
        if self.lab.brief and not about.get("in_brief", self.about.get("in_brief", False)):
            return row.alone()
        if "agrees" not in about or (published is None and not about.get("check")):
            return row
        judge = criterion(names.text(about["agrees"]))
        if "holds" in about:
            judge = found(judge.words, names.inner({}, {"here": here}).value(about["holds"]))
        return row.judged_by(judge)

    def again(self, part: Table) -> Iterator[Row]:
        """Yields rows of other parts, on a variant of the machine."""
        other = Bench(self.lab, self.about, self.layout, self.machine(part["on"]))
        for one in self.about["part"]:
            for row in other.rows(one, part["again"]):
                row = row._replace(what=f"{part['what']}: {row.what}")
                yield row if part.get("judged") else row._replace(agrees=None, when="")

    def figures(self, part: Table) -> Iterator[Figure]:
        for _, names in self.scopes(part, self.names):
            figures = (scope for one in part.get("figure", ()) for scope in self.scopes(one, names))
            for about, inside in figures:
                lines = [
                    (
                        inner.text(line["name"]),
                        inner.value(line["x"]),
                        inner.value(line["y"]),
                        line.get("marks", False),
                    )
                    for one in about["line"]
                    for line, inner in self.scopes(one, inside)
                ]
                texts = {key: inside.text(about[key]) for key in ("name", "title", "x", "y")}
                yield Figure(**texts, log=about.get("log", ""), lines=lines)

    def ends(self) -> list[Bench]:
        """
        Returns a Bench at each end of the unmeasured numbers, and on the variants of
        `end.machines`.
        """
        about = self.about.get("end", {})
        bases = ends(self.base) + [self.machine(name) for name in about.get("machines", ())]
        return [
            Bench(self.lab, self.about, self.layout, base, about.get("calls", {})) for base in bases
        ]


def reproduce(lab: Lab, paper: str) -> Result:
    """Returns the rows and the figures of a paper."""
    about = contents(paper)
    if lab.brief:
        about = merged(about, about.get("brief", {}))
    base = lab.machine(about["machine"]) if "machine" in about else {}
    bench = Bench(lab, about, Remembering(lab.layout), base)
    rows: list[Row] = []
    figures: list[Figure] = []
    for note in about["notes"]:
        lab.note(bench.names.text(note))
    at_ends = bench.ends() if base else []
    for part in about["part"]:
        found = bench.rows(part)
        rows += ranged(found, [end.rows(part) for end in at_ends]) if part.get("range") else found
        figures += bench.figures(part)
    return Result(rows, figures)
