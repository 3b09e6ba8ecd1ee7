# SPDX-License-Identifier: BSD-3-Clause
"""Tests the line of `huddle run --stats` about calls that fall back because of several nodes."""

import os
import unittest
import unittest.mock
from collections import Counter
from types import SimpleNamespace

from cli import run
from cli.common.totals import Row


class Line(unittest.TestCase):
    remedy = {
        "off": "HUDDLE_NODES is off",
        "auto": "some of these ranks",
        "on": "these ranks",
    }  # the library's texts

    def line(self, hosts, world, messages=0, nodes=None, **passed):
        names = {"spans": run.SPANS, "without": run.WITHOUT}
        ranks = [SimpleNamespace(host=host, world_size=world) for host in hosts]
        core = SimpleNamespace(other=lambda: {"messages": messages}, nodes_remedy=self.remedy)
        row = Row(passed=Counter({names[name]: calls for name, calls in passed.items()}))
        kept = {k: v for k, v in os.environ.items() if k != "HUDDLE_NODES"}
        more = {} if nodes is None else {"HUDDLE_NODES": nodes}
        environment = unittest.mock.patch.dict(os.environ, {**kept, **more}, clear=True)
        with unittest.mock.patch.object(run, "warn") as printed, environment:
            run.show_nodes(SimpleNamespace(ranks=ranks, core=core), {"bcast": row, "scan": Row()})
        return printed.call_args[0][0] if printed.called else None

    def test_calls_and_the_remedy_are_printed(self):
        for hosts, world in (("ab", 2), ("a", 2)):
            line = self.line(hosts, world, without=3, spans=1, nodes="off")
            self.assertRegex(line, r"^nodes +4 calls .*: HUDDLE_NODES is off$")
        for nodes in (None, "", "auto", "on"):
            line = self.line("ab", 2, without=3, spans=1, nodes=nodes)
            remedy = self.remedy["on" if nodes == "on" else "auto"]
            self.assertRegex(line, f"^nodes +3 calls .*: {remedy}$")
        self.assertRegex(self.line("aa", 2, spans=1, nodes="off"), "^nodes +1 call of ")

    def test_a_job_without_such_calls_has_no_line(self):
        self.assertIsNone(self.line("aa", 2, without=3))
        self.assertIsNone(self.line("ab", 2, spans=1))  # scans, for example
        self.assertIsNone(self.line("ab", 2))
        self.assertIsNone(self.line("ab", 2, messages=1, without=3))


if __name__ == "__main__":
    unittest.main()
