# SPDX-License-Identifier: BSD-3-Clause
"""Tests that every lint finds its errors: each case puts one bad file into a small good tree."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

import comments
import ctest_lint
import form
import heads
import imports
import includes
import links
import lint
import rooms
import subjects
import tokens
import tree
import words

SPDX = "/* SPDX-License-Identifier: BSD-3-Clause */\n"

# lint, path, text, a word of the complaint
BAD = (
    (includes, "src/mem/a.c", '#include "core/b.h"\n', "mem may not include core/b.h"),
    (includes, "src/alg/a.h", '#include "core/b.h"\n', "alg may not include"),
    (includes, "src/check/a.c", '#include "lab/b.h"\n', "product may not include lab/b.h"),
    (includes, "tests/unit/a.c", '#include "lab/b.h"\n', "product may not include lab/b.h"),
    (includes, "lab/sim/a.c", '#include "core/b.h"\n', "laboratory may not include core/b.h"),
    (includes, "lab/alg/bcast/a.c", '#include "check/b.h"\n', "algorithm may not include"),
    (includes, "src/topo/a.c", '#include "alg/alg.h"\n', "topo may not include"),
    (includes, "src/base/a.c", '#include "mem/b.h"\n', "base may not include mem/b.h"),
    (includes, "src/core/a.c", '#include "host/b.h"\n', "core may not include"),
    (includes, "src/core/a.c", "#include <mpi.h>\n", "includes mpi.h"),
    (includes, "src/alg/bcast/a.c", '#include "mem/counter.h"\n', "sees alg/*.h, its"),
    (includes, "src/alg/slices/a.c", '#include "alg/queue/queue.h"\n', "family's header"),
    (includes, "bench/a.c", '#include "core/b.h"\n', "bench may not include core/b.h"),
    (includes, "bench/a.c", '#include "shape/b.h"\n', "bench may not include shape/b.h"),
    (includes, "bench/a.c", '#include "tools/b.h"\n', "bench may not include tools/b.h"),
    (includes, "bench/a.c", '#include "../cli/b.h"\n', "bench may not include ../cli/b.h"),
    (includes, "src/tools/a.c", '#include "bench/b.h"\n', "tools may not include bench/b.h"),
    (includes, "src/tools/a.c", '#include "core/b.h"\n', "tools may not include core/b.h"),
    (includes, "src/fork_team/a.c", '#include "coll/b.h"\n', "fork_team may not include coll/b.h"),
    (includes, "src/tools/query/a.c", '#include "host/b.h"\n', "query may not include host/b.h"),
    (includes, "src/core/a.c", '#include "fork_team/b.h"\n', "core may not include fork_team/b.h"),
    (includes, "src/check/a.c", '#include "tools/b.h"\n', "check may not include tools/b.h"),
    (rooms, "src/core/slice/a.h", '#include "core/team/b.h"\n', "slice may not include core/team/"),
    (rooms, "src/base/a.h", '#include "core/slice/b.h"\n', "base may not include core/slice/b.h"),
    (rooms, "src/core/other/a.c", "int x;\n", "in no room of core"),
    (
        imports,
        "bench/a.py",
        "from cli.common import jobs\n",
        "bench may not import cli.common.jobs",
    ),
    (imports, "cli/explain/a.py", "from lab.cli import simulated\n", "may not import lab.cli"),
    (imports, "tests/cli/a.py", "from lab.cli import described\n", "may not import lab.cli"),
    (
        imports,
        "cli/common/a.py",
        'layout.question("model", {})\n',
        "the product may not start the laboratory's model",
    ),
    (
        imports,
        "cli/tune/a.py",
        'os.path.join(layout.tools, "bench-machine")\n',
        "may not start the laboratory's bench-machine",
    ),
    (imports, "lab/cli/model/a.py", "from cli.tune import grid\n", "laboratory may not import"),
    (imports, "src/alg/a.py", "import cli\n", "src may not import cli"),
    (
        imports,
        "cli/explain/a.py",
        "from ..bench import stats\n",
        "the command explain may not import cli.bench.stats",
    ),
    (
        imports,
        "cli/explain/a.py",
        "from cli.bench.stats import BARE\n",
        "may not import cli.bench.stats",
    ),
    (
        imports,
        "cli/explain.py",
        "from . import run\n",
        "the command explain may not import cli.run",
    ),
    (
        imports,
        "cli/common/a.py",
        "from ..tune import grid\n",
        "the command common may not import cli.tune.grid",
    ),
    (imports, "cli/common/a.py", "import json\n", "cli/common/a.py: no command imports it"),
    (comments, "other/a.c", "/* Of a hello. */\nint f(void);\n", ":1: begin with a verb"),
    (comments, "other/a.c", "/* Ranks of a node. */\nint f(void)\n{\n}\n", "begin with a verb"),
    (comments, "other/a.c", "/* Returns what\n * it is. */\nint f(void);\n", "not what, it"),
    (comments, "other/a.h", "/* The kind. */\nenum kind f(void);\n", "begin with a verb"),
    (comments, "other/a.h", "/* The row. */\nconst struct row *f(int a);\n", "begin with a verb"),
    (
        comments,
        "other/a.h",
        "/* Only from within. */\n__attribute__((noreturn)) void f(int a);\n",
        ":1: begin with a verb",
    ),
    (
        comments,
        "other/a.h",
        "/* Of. */\n__attribute__((format(printf, 1, 2))) void f(const char *a, ...);\n",
        ":1: begin with a verb",
    ),
    (
        comments,
        "other/a.h",
        "struct a {\n    int x; /* the team's; 0 at first */\n};\n",
        ":2: begin with the thing: the team's",
    ),
    (comments, "other/a.h", "int *x; /* [ranks] of a job */\n", ":1: begin with the thing"),
    (
        comments,
        "other/a.h",
        "struct a {\n    int x; /* the same of reads */\n};\n",
        ":2: begin with the thing: the same",
    ),
    (comments, "bench/a.py", "X = 1  # the library's\n", ":1: begin behind code with a noun"),
    (
        comments,
        "other/a.h",
        "/* Returns n.  a: of a team. */\nint f(int a);\n",
        ":1: name the thing: a: of",
    ),
    (comments, "cli/a.py", 'class A:\n    """Of calls."""\n', ":1: begin with the thing"),
    (comments, "cli/a.py", 'class A:\n    """rows: texts."""\n', ":1: begin with the thing"),
    (comments, "cli/a.py", 'class A:\n    """Reads rows."""\n', ":1: begin with the thing"),
    (comments, "cli/a.py", 'class A:\n    """a row."""\n', ":1: begin with a capital letter"),
    (comments, "cli/a.py", 'class A:\n    """A row"""\n', ":1: end with a full stop: A row"),
    (comments, "other/a.c", "/* Writes of a rank. */\nint f(void);\n", "begin with a verb"),
    (comments, "other/a.c", "/* This is f. */\nint f(void);\n", "begin with a verb"),
    (
        comments,
        "other/a.c",
        "/* Frobnicates. */\nint f(void);\n",
        "other/a.c:1: begin with a verb in the third person (add a new one to "
        "tests/lint/verbs.txt): Frobnicates.",
    ),
    (
        comments,
        "cli/a.py",
        'def f():\n    """Returns what it is."""\n',
        ":1: name the thing, not what, it",
    ),
    (
        comments,
        "other/a.h",
        "struct a {\n    /* Of a core. */\n    int x;\n};\n",
        ":2: begin with the thing",
    ),
    (
        comments,
        "other/a.h",
        "struct a {\n    int x; /* of a core */\n};\n",
        ":2: begin with the thing: of a core",
    ),
    (comments, "lab/a.h", "int a, x; /* for messages */\n", ":1: begin behind code with a noun"),
    (comments, "bench/a.py", "X = 1  # until all poll\n", ":1: begin behind code with a noun"),
    (comments, "cli/a.py", 'def f():\n    """The row."""\n', ":1: begin with a verb"),
    (comments, "cli/a.py", 'class A:\n    def f(self):\n        """Of a row."""\n', ":2: begin"),
    (
        comments,
        "src/core/plan/a.h",
        "struct a {\n    /* Like f. */\n    int (*g)(void *arg, int a);\n};\n",
        ":2: begin with a verb",
    ),
    (
        comments,
        "tests/a.cpp",
        "struct a {\n    /* The size. */\n    int size() const {\n        return n;\n    }\n};\n",
        ":2: begin with a verb",
    ),
    (
        comments,
        "other/a.h",
        "/* Returns what\n * it is. */\ntypedef int (*f)(void);\n",
        "not what, it",
    ),
    (comments, "other/a.h", "/* The type of f. */\ntypedef int f(void);\n", "begin with a verb"),
    (comments, "other/a.c", "/* Of a set-up. */\nstruct a {\n};\n", ":1: begin with the thing"),
    (
        comments,
        "src/core/plan/a.h",
        "int a; /* by the network */\n",
        "begin behind code with a noun",
    ),
    (comments, "tests/a.c", "int a; /* in bytes */\n", "begin behind code with a noun"),
    (comments, "cli/a.py", "# The row.\n@cached\ndef f():\n    pass\n", ":1: begin with a verb"),
    (comments, "cli/a.py", "# Of a launch,\n# in s.\nA, B2 = 1, 2\n", ":1: begin with the thing"),
    (tokens, "src/core/a.c", "volatile int x;\n", "volatile"),
    (tokens, "src/core/a.c", "void f(void) { atomic_thread_fence(0); }\n", "atomic_thread_fence"),
    (tokens, "src/core/a.c", "#include <stdatomic.h>\n", "stdatomic.h"),
    (tokens, "src/core/a.c", "static atomic_flag f;\n", "base/process_atomics.h"),
    (tokens, "src/alg/bcast/a.c", "static int calls;\n", "no state"),
    (tokens, "src/alg/bcast/a.c", "void *p = malloc(1);\n", "malloc"),
    (tokens, "src/core/a.c", 'const char *p = "/ro' + 'ot/x";\n', "path of a particular machine"),
    (tokens, "README.md", "see ../sha" + "red/x\n", "outside the project"),
    (tokens, "lab/cli/a.py", 'raise CliError(f"{one(1)}: no", 2)\n', "an exit status is named"),
    (tokens, "lab/cli/a.py", 'raise CliError(\n    "no (x)",\n    2,\n)\n', "an exit status is"),
    (tokens, "cli/a.py", "# TO" + "DO: all of it\n", "unfinished"),
    (tokens, "test", "pip install -i pypi." + "org\n", "registry"),
    (form, "src/core/a.c", "int x;\n", "SPDX"),
    (form, "docs/a.csv", "", "docs/a.csv: belongs into the laboratory"),
    (form, "lab/docs/figures/a.png", "", "lab/docs/figures/a.png: a picture is drawn from data"),
    (form, "cli/a.py", "# " + "x" * 99 + "\n", "cli/a.py:1: more than 100 columns"),
    (form, "src/core/a.c", SPDX + "int x;\n" * 500, "more than 400"),
    (form, "src/core/a.c", SPDX + "/* " + "x" * 99 + " */\n", "a.c:2: more than 100 columns"),
    (form, "src/alg/alg.def", SPDX + "X(" + "x" * 99 + ")\n", "alg.def:2: more than 100 columns"),
    (form, "src/CMakeLists.txt", "#\n# " + "x" * 99 + "\n", "CMakeLists.txt:2: more than 100"),
    (form, "src/alg/bcast/a.c", SPDX + "int x;\n" * 200, "lines of code"),
    (
        form,
        "src/core/a.c",
        SPDX + "void f(void)\n{\n" + "    f();\n" * 60 + "}\n",
        "a function of 62 lines",
    ),
    (
        heads,
        "src/alg/bcast/a.c",
        "/*\n * Source  a\n * Shape b\n * Cost c\n * Safety d\n */\nALG_DEFINE(bcast, a)",
        "a.c: the head has no Deadlock",
    ),
    (links, "docs/a.md", "[b](b.md)\n", "docs/a.md: no file b.md"),
    (links, "docs/a.md", "[b](../lab/b.md)\n", "docs/a.md: ../lab/b.md: a product's page"),
    (links, "README.md", "![b](lab/b.png)\n## The laboratory\n", "README.md: lab/b.png: a pro"),
    (words, "README.md", "It lies\nbeside the file.\n", "'beside' in a document"),
    (words, "README.md", "Calls that are left\nto the MPI.\n", "falls back"),
    (words, "docs/a.md", "It " + "is " * 30 + "long.\n", "a sentence of 32 words"),
    (
        words,
        "docs/a.md",
        "It is\n" + "very wide " * 11 + "\n",
        "docs/a.md:2: more than 100 columns",
    ),
    (
        words,
        "src/core/a.c",
        SPDX + "/* for\n * want of memory */\n",
        ":2: 'for * want of' in a comment",
    ),
    (words, "src/core/a.c", 'f("%s is no size");\n', "'is no size' in a message"),
    (words, "cli/a.py", 'x = 1\ny = f(\n    "a crowd"\n)\n', ":3: 'crowd' in a message"),
    (words, "cli/a.py", '"""\nOf the\nown.\n"""\n', "in a comment: write its own"),
    (words, "cmake/a.cmake", "# whoever calls\n", "'whoever' in a comment"),
)
GOOD = (
    (includes, "src/core/a.c", '#include "mem/b.h"\n#include "topo/c.h"\n'),
    (includes, "src/mem/a.c", '#include "base/b.h"\n'),
    (includes, "src/launch/a.c", '#include "base/b.h"\n'),
    (includes, "src/alg/bcast/a.c", '#include "alg/alg.h"\n#include "shape/ring.h"\n'),
    (includes, "src/alg/slices/a.c", '#include <stddef.h>\n#include "alg/slices/slices.h"\n'),
    (includes, "src/alg/slices/a.c", '#include "alg/slices/part.h"\n'),
    (
        includes,
        "lab/alg/slices/a.c",
        '#include "alg/queue/queue.h"\n#include "lab/alg/slices/b.h"\n',
    ),
    (includes, "src/host/x/a.c", '#include <mpi.h>\n#include "core/b.h"\n'),
    (
        includes,
        "bench/a.c",
        (
            '#include "a.h"\n#include "huddle/huddle.h"\n#include "cost/b.h"\n#include'
            ' "fork_team/fork_team.h"\n'
        ),
    ),
    (includes, "bench/kernels.c", '#include "ops/ops.h"\n'),
    (rooms, "src/core/team/a.c", '#include "core/job/b.h"\n#include "base/c.h"\n'),
    (includes, "src/tools/query/a.c", '#include "core/b.h"\n#include "tools/query/c.h"\n'),
    (includes, "src/tools/read_waits.c", '#include "core/arena.h"\n'),
    (includes, "src/tools/a.c", '#include "tools/a.h"\n#include "cost/b.h"\n'),
    (imports, "cli/tune/grid.py", "from ..common import text\nfrom . import stats\n"),
    (
        imports,
        "lab/cli/model/a.py",
        "from ..simulate import simulation\nfrom .. import simulated\n",
    ),
    (imports, "lab/cli/model/b.py", "from cli.common import text\n"),
    (imports, "lab/cli/model/c.py", 'layout.question("model", {})\n'),
    (imports, "cli/explain/a.py", 'layout.question("network", {"model": 1})\n'),
    (imports, "cli/main.py", "from . import bench\nfrom .common import stop\n"),
    (imports, "tests/cli/a.py", "from cli.tune import grid\n"),
    (imports, "bench/a.py", "import json\n"),
    (
        comments,
        "other/a.c",
        "/* Returns the one that waits. */\nint f;\n/* Waits. */\nint f(void);\n",
    ),
    (comments, "lab/a.h", "/* For all. */\nint x; /* at most one */\n"),
    (comments, "other/a.c", "void f(void)\n{\n    /* The last one. */\n    return g(1);\n}\n"),
    (comments, "other/a.c", "void f(void)\n{\n    /* The last one. */\n    g(1);\n}\n"),
    (comments, "bench/a.py", "# Until all poll.\nx = 1  # time until all poll\n"),
    (comments, "cli/a.py", '"""The file."""\ndef f():\n    """Returns the row."""\n'),
    (comments, "cli/a.py", 'class A:\n    """Reads of a row."""\n'),
    (comments, "other/a.c", "/* Writes, in turn. */\nint f(void);\n"),
    (tokens, "src/mem/a.c", "volatile int x;\n"),
    (tokens, "src/core/a.c", '#include "base/process_atomics.h"\nstatic atomic_flag f;\n'),
    (tokens, "src/core/a.c", "/* volatile, and a futex */ const char *s = \"volatile\";\n"),
    (
        tokens,
        "src/alg/bcast/a.c",
        "static const int table[] = { 1 };\nstatic bool f(int x)\n{\n    return x == 1;\n}\n",
    ),
    (form, "lab/evidence/a.csv", ""),
    (form, "src/alg/bcast/a.c", SPDX + "/*\n" + " * why\n" * 200 + " */\nint x;\n"),
    (
        heads,
        "src/alg/bcast/a.c",
        "/*\n" + "".join(f" * {word}\n" for word in heads.CLAIMS) + " */\nALG_DEFINE(bcast, a)",
    ),
    (links, "README.md", "# A\n\n## The laboratory\n\n[b](lab/b.md)\n"),
    (links, "docs/a.md", "[a](a.md) `lab/b.csv`\n"),
    (words, "src/core/a.c", "int beside, own; /* next to it */ const char *s = \"its own\";\n"),
    (words, "docs/a.md", "One. Two `a: b`. " * 5 + "\n\n* " + "item " * 15 + "\n* " + "item " * 16),
    (words, "docs/a.md", "| " + "a table " * 30 + "|\n"),
)


def complaints_about(check, path, text):
    with tempfile.TemporaryDirectory() as root:
        for room in ("base", "core", "mem", "alg", "topo", "host", "fork_team", "tools"):
            os.makedirs(os.path.join(root, "src", room))
        os.makedirs(os.path.join(root, ".ci"))
        for name in form.COMMANDS:
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n# SPDX-License-Identifier: BSD-3-Clause\n")
            os.chmod(os.path.join(root, name), 0o755)
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)
        return "\n".join(check.check(root))


class Lints(unittest.TestCase):
    def test_bad_is_found(self):
        for check, path, text, words in BAD:
            with self.subTest(lint=check.__name__, words=words):
                self.assertIn(words, complaints_about(check, path, text))

    def test_good_passes(self):
        for check, path, text in GOOD:
            with self.subTest(lint=check.__name__, path=path):
                self.assertEqual("", complaints_about(check, path, text))

    def test_verbs_are_in_order(self):
        with open(comments.VERBS_FILE) as file:
            listed = file.read().splitlines()
        self.assertEqual(sorted(set(listed)), listed)
        self.assertEqual([], [verb for verb in listed if not re.fullmatch("[A-Z][a-z]+s", verb)])

    def test_wrong_arguments_are_refused(self):
        for words, expected in (
            ((), "no lint None"),
            (("doc", "."), "no lint doc (accepted: includes, "),
            (("words",), "ROOT is missing"),
            (("docs", "."), "BUILD is missing: lint.py docs ROOT BUILD"),
        ):
            with self.subTest(words=words):
                self.assertIn(expected, lint.wrong_arguments(*words))
        self.assertIsNone(lint.wrong_arguments("words", "."))
        self.assertIsNone(lint.wrong_arguments("docs", ".", "build"))

    def rooms_of(self, **bodies):
        """
        Returns the complaints about files of core: "room_name" has one function, hud_name, with a
        body.
        """
        with tempfile.TemporaryDirectory() as root:
            for where, body in bodies.items():
                room, name = where.split("_")
                os.makedirs(os.path.join(root, "src/core", room), exist_ok=True)
                with open(os.path.join(root, "src/core", room, name + ".c"), "w") as file:
                    file.write(f"int hud_{name}(int x)\n{{\n    return {body};\n}}\n")
            return "\n".join(rooms.check(root))

    def test_calls_go_one_way(self):
        self.assertEqual("", self.rooms_of(team_a="hud_b(x)", job_b="x"))
        self.assertIn("job may not call hud_a", self.rooms_of(team_a="x", job_b="hud_a(x)"))
        self.assertIn("job may not call hud_a", self.rooms_of(team_a="x", job_b="use(&hud_a)"))
        self.assertEqual("", self.rooms_of(team_a="x", job_b="x.hud_a /* hud_a(x) */"))

    def test_calls_of_rooms_follow_their_includes(self):
        for caller, home, found in (
            ("src/mem/a.c", "src/core/job/b.c", "mem may not call hud_b of src/core/job/b.c"),
            ("src/mem/a.c", "src/base/b.c", ""),
            ("src/topo/a.c", "src/alg/bcast/b.c", "topo may not call hud_b"),
            ("src/check/a.c", "lab/sim/b.c", "check may not call hud_b of lab/sim/b.c"),
            ("lab/sim/a.c", "src/check/b.c", ""),
            ("bench/a.c", "src/shape/b.c", "bench may not call hud_b"),
            ("src/tools/a.c", "src/tools/query/b.c", ""),
        ):
            with self.subTest(caller=caller, home=home), tempfile.TemporaryDirectory() as root:
                for path, text in (
                    (caller, "int hud_b(int x);\nint hud_a(int x)\n{\n    return hud_b(x);\n}\n"),
                    (home, "int hud_b(int x)\n{\n    return x;\n}\n"),
                ):
                    os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                    with open(os.path.join(root, path), "w") as file:
                        file.write(text)
                complaints = "\n".join(rooms.check(root))
                self.assertTrue(found in complaints if found else not complaints, complaints)

    def test_cycles_through_assembler_and_in_the_laboratory_are_found(self):
        jump = "    .globl go, table\n    .type table, %object\ngo:\n    jmp hud_a\n"
        for one, other, text, found in (
            ("src/host/loader/a.c", "src/host/loader/b.S", jump, True),
            ("src/host/loader/a.c", "src/host/loader/a.S", jump, False),
            ("lab/bench/a.c", "lab/bench/b.c", "int go(void)\n{\n    hud_a();\n}\n", True),
        ):
            with self.subTest(other=other), tempfile.TemporaryDirectory() as root:
                os.makedirs(os.path.join(root, os.path.dirname(one)))
                with open(os.path.join(root, one), "w") as file:
                    file.write("void hud_a(void)\n{\n    go();\n}\n")
                with open(os.path.join(root, other), "w") as file:
                    file.write(text)
                self.assertEqual(found, "2 files call each other" in "\n".join(rooms.check(root)))

    def test_names_of_two_functions_are_found(self):
        with tempfile.TemporaryDirectory() as root:
            for room in ("pmpi", "openmpi"):
                os.makedirs(os.path.join(root, "src/host", room))
                with open(os.path.join(root, "src/host", room, "a.c"), "w") as file:
                    file.write("int hud_a(void)\n{\n}\nstatic int own(void)\n{\n}\n")
            self.assertEqual(
                ["src/host/pmpi/a.c: hud_a is also the name of a function of src/host/openmpi/a.c"],
                rooms.check(root),
            )

    def test_cycles_are_found(self):
        files = {f"team_a{i}": f"hud_a{(i + 1) % 20}(x)" for i in range(20)}
        self.assertIn("20 files call each other", self.rooms_of(**files))
        self.assertEqual("", self.rooms_of(**{**files, "team_a7": "x"}))

    @unittest.skipUnless(shutil.which("git"), "no git here")
    def test_subjects(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertRaises(tree.Skip, subjects.check, root)
            git = ["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@b"]
            subprocess.run([*git, "init", "-q"], check=True)
            old = {**os.environ, "GIT_COMMITTER_DATE": "2026-11-22T20:00:00+00:00"}
            new = {**os.environ, "GIT_COMMITTER_DATE": "2026-11-22T22:00:00+00:00"}
            commit = [*git, "commit", "-q", "--allow-empty", "-m"]
            subprocess.run([*commit, "old " * 20], env=old, check=True)
            subprocess.run([*commit, "b" * 72], env=new, check=True)
            self.assertEqual([], subjects.check(root))
            subprocess.run([*commit, "c" * 73], env=new, check=True)
            self.assertIn("73 characters", "\n".join(subjects.check(root)))
            scoped = {**os.environ, "GIT_COMMITTER_DATE": "2026-11-29T17:00:00+00:00"}
            for subject, named in (("core/team, tests: wait", 0), ("Wait", 1), ("a b: wait", 1)):
                with self.subTest(subject=subject):
                    before = len(subjects.check(root))
                    subprocess.run([*commit, subject], env=scoped, check=True)
                    self.assertEqual(named, len(subjects.check(root)) - before)

    def test_a_test_without_a_time_limit_is_found(self):
        listed = {
            "tests": [
                {"name": "a", "properties": [{"name": "TIMEOUT", "value": 60.0}]},
                {"name": "b", "properties": []},
                {"name": "c"},
            ]
        }
        self.assertEqual(["b", "c"], list(ctest_lint.without_limit(listed)))
