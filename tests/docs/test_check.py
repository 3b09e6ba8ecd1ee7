# SPDX-License-Identifier: BSD-3-Clause
"""
Tests the errors that docs/site/check.py finds in a site, and the API reference of a comment.
"""

import os
import pathlib
import sys
import tempfile
import unittest

from paths import SOURCE

sys.path.insert(0, os.path.join(SOURCE, "docs", "site"))
import algorithms
import header

import check

PAGE = "<html><body><article>{}</article></body></html>"


class Check(unittest.TestCase):
    def found(self, **pages):
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder)
            for name, body in pages.items():
                (site / f"{name}.html").write_text(PAGE.format(body), encoding="utf-8")
            return list(check.broken(site, check.read(site)))

    def test_good_links(self):
        self.assertEqual(
            [],
            self.found(
                one='<a href="two.html#x">t</a><a href="#y">y</a><p id="y">', two='<p id="x">'
            ),
        )

    def test_missing_files_are_found(self):
        self.assertEqual(["one.html: no file two.html"], self.found(one='<a href="two.html">t</a>'))

    def test_missing_anchors_are_found(self):
        self.assertEqual(
            ["one.html: no anchor two.html#x"],
            self.found(one='<a href="two.html#x">t</a>', two="<p>text"),
        )

    def test_pages_load_nothing_from_a_network(self):
        found = self.found(
            one='<img src="https://example.org/a.png"><a href="https://mpi.org">m</a>'
        )
        self.assertEqual(["one.html: loads https://example.org/a.png from a network"], found)

    def test_only_words_of_prose_are_checked(self):
        page = check.Page()
        page.feed(PAGE.format("Reeds <code>qwrt</code> HUDDLE_X a/b.c well’s <br> done"))
        self.assertEqual({"Reeds", "well", "done"}, check.words_of(page))


class Reference(unittest.TestCase):
    def test_declarations_become_directives(self):
        text = "/* Frees it.  HUD_OK. */\nHUD_API int hud_free(\n    int a);\n\n"
        text += "enum hud_e {\n    A\n};\n"
        made = header.part(text)
        self.assertIn("```{c:function} int hud_free( int a)\n\nFrees it.  `HUD_OK`.", made)
        self.assertIn("```{c:enum} hud_e", made)

    def test_every_function_of_the_headers(self):
        page = header.page(pathlib.Path(SOURCE))
        for name in header.HEADERS:
            text = (pathlib.Path(SOURCE) / "include/huddle" / name).read_text(encoding="utf-8")
            count = sum(line.startswith("HUD_API ") for line in text.splitlines())
            part = page[page.index(f"\n## {name}") :].split("\n## ")[1]
            self.assertEqual(count, part.count("{c:function}"), name)

    def test_fields_of_heads_are_read(self):
        head = algorithms.head_of(
            "/*\n * a.c - x\n *\n * Cost      T = 1\n *             + 2\n * Edges R\n */\n"
        )
        self.assertEqual(["T = 1", "  + 2"], algorithms.field(head, "Cost"))

    def test_every_algorithm_has_a_file(self):
        root = pathlib.Path(SOURCE)
        tables = [root / folder / "alg/alg.def" for folder in ("src", "lab")]
        rows = [
            tuple(line[4:].split(")")[0].split(", "))
            for table in tables
            if table.exists()  # a tree may lack the laboratory
            for line in table.read_text(encoding="utf-8").splitlines()
            if line.startswith("ALG(")
        ]
        found = algorithms.sources(root)
        self.assertEqual([], [row for row in rows if row not in found])
