# SPDX-License-Identifier: BSD-3-Clause
"""
Predictions of src/cost for a collective, through the program `model`.  A predicted time is never
below the limit: the papers' models do not know that memory bandwidth is limited.
"""

from __future__ import annotations

from typing import Any

from cli.common.layout import Layout
from cli.common.types import Options

PAGE = 4096

# Trees along which bcast/queue can announce fragments: name, degree.
TREES = (
    ("flat", 2),
    ("chain", 2),
    ("kary", 2),
    ("kary", 3),
    ("kary", 4),
    ("kary", 8),
    ("knomial", 2),
    ("knomial", 3),
    ("knomial", 4),
    ("knomial", 8),
    ("grouped", 2),
    ("nested", 2),
    ("nested", 4),
    ("nested", 8),
    ("leaders", 4),
    ("leaders", 8),
    ("leaders", 16),
    ("leaders", 32),
)
DEGREES = ("kary", "knomial", "nested", "leaders")  # trees with a degree

# Broadcasts by messages, by the names of paper 04.
MESSAGES = ("k-nomial", "chain", "binary pipelined")


def tree_text(tree: str, degree: int) -> str:
    return f"{tree} {degree}" if tree in DEGREES else tree


class Prediction:
    """
    A prediction of a call's times. limits: a limit per size. compared: other times.  A broadcast
    also has rows, a row per size, and tree and model, the best of TREES.
    """

    def __init__(
        self, layout: Layout, options: Options, description: dict[str, Any], sizes: list[int]
    ) -> None:
        self.layout, self.options, self.sizes = layout, options, sizes
        self.notes: list[str] = []  # lines about `compared`
        self.compared: dict[
            str, list[float | None]
        ] = {}  # "simulated", "measured" -> ns of each size, None: not handled
        answer = self.ask(
            "machine",
            machine=description,
            collective=options.collective,
            ranks=options.ranks,
            map=options.map,
            trees=[{"tree": tree, "degree": degree} for tree, degree in TREES],
            bytes=sizes,
        )
        self.doubt = description.get("doubt")
        self.name, self.ranks = answer["machine"], options.ranks or answer["cores"]
        self.node, self.limits, self.trees, self.messages = (
            answer["node"],
            answer["limits"],
            answer["trees"],
            answer["messages"],
        )
        if options.collective == "bcast":
            best = min(range(len(TREES)), key=lambda i: self.trees[i]["notify_ns"])
            self.best, self.model, self.tree = (
                TREES[best],
                self.trees[best],
                tree_text(*TREES[best]),
            )
            self.rows = self.predict()

    def ask(self, question: str, **more: Any) -> dict[str, Any]:
        return self.layout.question(
            "model",
            {"ask": question, **more},
            {"machine": f"--machine {self.options.machine}", "ranks": "--ranks"},
        )

    def by_tree(self) -> list[tuple[str, dict[str, float]]]:
        return [(tree_text(*tree), model) for tree, model in zip(TREES, self.trees)]

    def forms(self, sizes: list[int]) -> list[dict[str, float]]:
        wish = {
            "queue": self.options.queue,
            "fragment": self.options.fragment or 0,
            "buffers": self.options.buffers,
            "page": PAGE,
        }
        return self.ask(
            "choose", model=self.model, wishes=[{**wish, "message": size} for size in sizes]
        )["forms"]

    def queue_ns(self, sizes: list[int], forms: list[dict[str, float]]) -> list[float]:
        points = [
            {
                "bytes": size,
                "fragment": form["fragment"],
                "buffers": form["buffers"],
                "sets": self.options.sets,
            }
            for size, form in zip(sizes, forms)
        ]
        return self.ask("queue", model=self.model, points=points)["ns"]

    def messages_ns(self, sizes: list[int]) -> list[tuple[float, str]]:
        """Returns (ns, name) of the best broadcast by messages, for each size."""

        def point(tree: str, size: int, segment: int = 0) -> dict[str, Any]:
            return {
                "tree": tree,
                "ranks": self.ranks,
                "degree": 2,
                "bytes": size,
                "segment": segment,
            }

        asked = [(tree, size) for size in sizes for tree in MESSAGES]
        first = self.ask("trees", model=self.messages, points=[point(*one) for one in asked])[
            "points"
        ]
        segments = [round(answer["best_segment"]) for answer in first]
        timed = self.ask(
            "trees",
            model=self.messages,
            points=[point(*one, segment) for one, segment in zip(asked, segments)],
        )["points"]
        found = [
            (answer["ns"], tree if segment in (0, size) else f"{tree}, {segment} B")
            for (tree, size), segment, answer in zip(asked, segments, timed)
        ]
        return [min(found[i : i + len(MESSAGES)]) for i in range(0, len(found), len(MESSAGES))]

    def predict(self) -> list[dict[str, Any]]:
        forms = self.forms(self.sizes)
        return [
            {
                "bytes": size,
                "fragment": form["fragment"],
                "buffers": form["buffers"],
                "queue_ns": max(queue_ns, limit["ns"]),
                "messages_ns": max(messages[0], limit["ns"]),
                "messages": messages[1],
                "limit_ns": limit["ns"],
            }
            for size, form, queue_ns, messages, limit in zip(
                self.sizes,
                forms,
                self.queue_ns(self.sizes, forms),
                self.messages_ns(self.sizes),
                self.limits,
            )
        ]

    def recommended(self) -> str:
        """
        Formats the parameters of bcast/queue for the longest message as settings.  By default
        s = b / f (lab/cost/queue.h).

        The s of the rows holds a single message, which finds the queue empty.  The queue of
        back-to-back calls still holds earlier messages: at the start of a set of buffers, once in
        s / q buffers, the root waits until all ranks have acknowledged the set.  (Paper 01: the
        loss is s times smaller than at s = 1.)  Each call drains a queue of a single buffer.
        """
        row, (tree, degree), o = self.rows[-1], self.best, self.options
        of_degree = f" degree={degree}" if tree in DEGREES else ""
        fragment = (
            int(row["fragment"])
            if o.fragment or o.buffers
            else min(int(row["fragment"]), max(PAGE, o.queue // 2 // PAGE * PAGE))
        )
        return (
            f"tree={tree}{of_degree} fragment={fragment}"
            f" buffers={o.buffers or max(2, o.queue // fragment)}"
        )

    def as_json(self) -> dict[str, Any]:
        answer = {
            "predicted": True,
            "collective": self.options.collective,
            "ranks": self.ranks,
            "map": self.options.map,
            "machine": self.name,
            "doubt": self.doubt,
            "node": self.node,
            "bytes": self.sizes,
            "limits": self.limits,
            **self.compared,
            "notes": self.notes,
        }
        if self.options.collective == "bcast":
            answer.update(
                trees=[{"tree": name, **model} for name, model in self.by_tree()],
                model=self.model,
                messages=self.messages,
                rows=self.rows,
                recommended=self.recommended(),
            )
        return answer
