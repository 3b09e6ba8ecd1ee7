# SPDX-License-Identifier: BSD-3-Clause
"""Every lint finds what it is for: each case puts one bad file into a small good tree."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import ctest_lint
import form
import imports
import includes
import subjects
import tokens
import words

SPDX = "/* SPDX-License-Identifier: BSD-3-Clause */\n"

# lint, path, text, a word of the complaint
BAD = (
    (includes, "src/mem/a.c", '#include "core/b.h"\n', "mem may not include core/b.h"),
    (includes, "src/alg/a.h", '#include "core/b.h"\n', "alg may not include"),
    (includes, "src/topo/a.c", '#include "alg/alg.h"\n', "topo may not include"),
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
    (includes, "src/members/a.c", '#include "sim/b.h"\n', "members may not include sim/b.h"),
    (includes, "src/core/a.c", '#include "members/b.h"\n', "core may not include members/b.h"),
    (includes, "src/sim/a.c", '#include "tools/b.h"\n', "sim may not include tools/b.h"),
    (
        imports,
        "bench/a.py",
        "from cli.common import jobs\n",
        "bench may not import cli.common.jobs",
    ),
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
    (tokens, "src/core/a.c", "volatile int x;\n", "volatile"),
    (tokens, "src/core/a.c", "void f(void) { atomic_thread_fence(0); }\n", "atomic_thread_fence"),
    (tokens, "src/core/a.c", "#include <stdatomic.h>\n", "stdatomic.h"),
    (tokens, "src/core/a.c", "static atomic_flag f;\n", "core/local.h"),
    (tokens, "src/alg/bcast/a.c", "static int calls;\n", "no state"),
    (tokens, "src/alg/bcast/a.c", "void *p = malloc(1);\n", "malloc"),
    (tokens, "src/core/a.c", 'const char *p = "/ro' + 'ot/x";\n', "path of a particular machine"),
    (tokens, "README.md", "see ../sha" + "red/x\n", "outside the project"),
    (tokens, "cli/a.py", "# TO" + "DO: all of it\n", "unfinished"),
    (tokens, "test", "pip install -i pypi." + "org\n", "registry"),
    (form, "src/core/a.c", "int x;\n", "SPDX"),
    (form, "cli/a.py", "# " + "x" * 99 + "\n", "cli/a.py:1: more than 100 columns"),
    (form, "src/core/a.c", SPDX + "int x;\n" * 500, "more than 400"),
    (form, "src/core/a.c", SPDX + "/* " + "x" * 99 + " */\n", "a.c:2: more than 100 columns"),
    (form, "src/alg/bcast/a.c", SPDX + "int x;\n" * 200, "lines of code"),
    (
        form,
        "src/core/a.c",
        SPDX + "void f(void)\n{\n" + "    f();\n" * 60 + "}\n",
        "a function of 62 lines",
    ),
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
    (includes, "src/alg/bcast/a.c", '#include "alg/alg.h"\n#include "shape/ring.h"\n'),
    (includes, "src/alg/slices/a.c", '#include <stddef.h>\n#include "alg/slices/slices.h"\n'),
    (includes, "src/alg/slices/a.c", '#include "alg/slices/part.h"\n'),
    (includes, "src/host/x/a.c", '#include <mpi.h>\n#include "core/b.h"\n'),
    (
        includes,
        "bench/a.c",
        (
            '#include "a.h"\n#include "huddle/huddle.h"\n#include "sim/b.h"\n#include'
            ' "members/members.h"\n'
        ),
    ),
    (includes, "bench/kernels.c", '#include "ops/ops.h"\n'),
    (includes, "src/tools/notes.c", '#include "core/arena.h"\n'),
    (includes, "src/tools/a.c", '#include "tools/a.h"\n#include "cost/b.h"\n'),
    (imports, "cli/tune/grid.py", "from ..common import text\nfrom . import stats\n"),
    (imports, "cli/model/a.py", "from ..simulate import asked\n"),
    (imports, "cli/main.py", "from . import bench\nfrom .common import stop\n"),
    (imports, "tests/cli/a.py", "from cli.tune import grid\n"),
    (imports, "bench/a.py", "import json\n"),
    (tokens, "src/mem/a.c", "volatile int x;\n"),
    (tokens, "src/core/a.c", '#include "core/local.h"\nstatic atomic_flag f;\n'),
    (tokens, "src/core/a.c", "/* volatile, and a futex */ const char *s = \"volatile\";\n"),
    (
        tokens,
        "src/alg/bcast/a.c",
        "static const int table[] = { 1 };\nstatic bool f(int x)\n{\n    return x == 1;\n}\n",
    ),
    (form, "src/alg/bcast/a.c", SPDX + "/*\n" + " * why\n" * 200 + " */\nint x;\n"),
    (words, "src/core/a.c", "int beside, own; /* next to it */ const char *s = \"its own\";\n"),
    (words, "docs/a.md", "One. Two `a: b`. " * 5 + "\n\n* " + "item " * 15 + "\n* " + "item " * 16),
    (words, "docs/a.md", "| " + "a table " * 30 + "|\n"),
)


def complaints_about(lint, path, text):
    with tempfile.TemporaryDirectory() as root:
        for room in ("core", "mem", "alg", "topo", "host", "members", "tools"):
            os.makedirs(os.path.join(root, "src", room))
        os.makedirs(os.path.join(root, ".ci"))
        for name in form.COMMANDS:
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n# SPDX-License-Identifier: BSD-3-Clause\n")
            os.chmod(os.path.join(root, name), 0o755)
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)
        return "\n".join(lint.check(root))


class Lints(unittest.TestCase):
    def test_bad_is_found(self):
        for lint, path, text, words in BAD:
            with self.subTest(lint=lint.__name__, words=words):
                self.assertIn(words, complaints_about(lint, path, text))

    def test_good_passes(self):
        for lint, path, text in GOOD:
            with self.subTest(lint=lint.__name__, path=path):
                self.assertEqual("", complaints_about(lint, path, text))

    @unittest.skipUnless(shutil.which("git"), "no git here")
    def test_subjects(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertRaises(subjects.Skip, subjects.check, root)
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

    def test_a_test_without_a_time_limit_is_found(self):
        listed = {
            "tests": [
                {"name": "a", "properties": [{"name": "TIMEOUT", "value": 60.0}]},
                {"name": "b", "properties": []},
                {"name": "c"},
            ]
        }
        self.assertEqual(["b", "c"], list(ctest_lint.without_limit(listed)))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
