# SPDX-License-Identifier: BSD-3-Clause
"""
The form of files: licence line, length of files and functions, and executable commands.  docs/ is
installed with the product, so data are in lab/evidence.  Pictures are drawn from data (docs/build).
"""

import ast
import os
import re

import tree

FILE_LINES, TEST_LINES = 400, 480
PYTHON_LINES, PYTHON_TEST_LINES = 400, 600  # the formatter uses a line for each argument
# Limits of lines with code, so that they do not count explanations in the head: of an algorithm,
# and of a unit with several algorithms or their header.
ALGORITHM_LINES, FAMILY_LINES = 190, 300
FUNCTION_LINES = 60
COLUMNS = 100
WIDE = ("tests/mpi/cases.py",)  # a table
NARROW = (*tree.CODE, ".S", ".f90", ".spec", "CMakeLists.txt", "Dockerfile", "modulefile")
COMMANDS = ("quickstart", "test", ".ci/run")
PICTURES = (".png", ".svg")
SCRIPTS = (*COMMANDS, "docs/build", "packaging/debian/rules")


def first_lines(text):
    lines = text.split("\n")
    return lines[1:2] if lines[0].startswith("#!") else lines[:1]


def long_functions(text):
    """
    Returns (line, lines) of functions over the limit.  The style puts a function's braces in the
    first column.
    """
    begin, found = None, []
    for number, line in enumerate(text.split("\n"), 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            if number - begin + 1 > FUNCTION_LINES:
                found.append((begin, number - begin + 1))
            begin = None
    return found


def lines_of_texts(text):
    """
    Returns the numbers of the lines within multi-line texts that are printed, excluding docstrings.
    """
    nodes = list(ast.walk(ast.parse(text)))
    documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [
        node
        for node in nodes
        if (isinstance(node, ast.Constant) and isinstance(node.value, str))
        or isinstance(node, ast.JoinedStr)
    ]
    return {
        line
        for node in texts
        if id(node) not in documentation
        and node.end_lineno > node.lineno
        and '"""' in ast.get_source_segment(text, node)
        for line in range(node.lineno, node.end_lineno + 1)
    }


def wide_lines(text):
    """Returns the numbers of the lines over the limit."""
    return [n for n, line in enumerate(text.split("\n"), 1) if len(line) > COLUMNS]


def wide_lines_of_python(text):
    """Returns the numbers of the lines over the limit, except in printed texts."""
    wide = wide_lines(text)
    free = lines_of_texts(text) if wide else ()
    return [number for number in wide if number not in free]


def evidence(root):
    """Yields complaints about data in docs/, and about pictures there and in the laboratory."""
    for top in ("docs", "lab"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), root)
                if name.endswith(PICTURES):
                    yield f"{path}: a picture is drawn from data"
                elif name.endswith(".csv") and top == "docs":
                    yield f"{path}: belongs into the laboratory"


def lines_limit(path):
    test = path.startswith(("tests/", "lab/tests/"))
    if path.endswith(".py"):
        return PYTHON_TEST_LINES if test else PYTHON_LINES
    return TEST_LINES if test else FILE_LINES


def check(root):
    complaints = [
        f"{name}: missing, or cannot be run"
        for name in COMMANDS
        if not os.access(os.path.join(root, name), os.X_OK)
    ]
    complaints += evidence(root)
    for path in tree.files(root):
        text = tree.read(root, path)
        is_code = (
            (path.endswith(tree.CODE) and not path.endswith(".pc.in"))
            or os.path.basename(path) == "CMakeLists.txt"
            or path in COMMANDS
        )
        if is_code and not any(
            "SPDX-License-Identifier: BSD-3-Clause" in line for line in first_lines(text)
        ):
            complaints.append(f"{path}: the first line is not the SPDX line")
        limit = lines_limit(path)
        if is_code and text.count("\n") > limit:
            complaints.append(f"{path}: {text.count(chr(10))} lines, more than {limit}")
        lines = sum(1 for line in tree.without_comments(text).split("\n") if line.strip())
        several = text.count("ALG_DEFINE(") > 1 or re.match(r"(?:src|lab)/alg/(\w+)/\1\.h", path)
        limit = FAMILY_LINES if several else ALGORITHM_LINES
        if re.match(r"(src|lab)/alg/[^/]+/", path) and lines > limit:
            complaints.append(f"{path}: {lines} lines of code, more than {limit}")
        wide = []
        if path.endswith(".py"):
            wide = wide_lines_of_python(text)
        elif path.endswith(NARROW) or path in SCRIPTS:
            wide = wide_lines(text)
        if path.endswith((".c", ".h", ".cpp")):
            complaints += [
                f"{path}:{line}: a function of {lines} lines, more than {FUNCTION_LINES}"
                for line, lines in long_functions(text)
            ]
        if path not in WIDE:
            complaints += [f"{path}:{line}: more than {COLUMNS} columns" for line in wide]
    return complaints
