# SPDX-License-Identifier: BSD-3-Clause
"""The form of files: licence line, length of files and functions, commands that can be run."""
import os
import re

import tree

FILE_LINES, TEST_LINES, ALGORITHM_LINES, FUNCTION_LINES = 440, 480, 190, 60  # of an algorithm: lines that hold code, so that its head may explain it
COMMANDS = ("quickstart", "test", ".ci/run")


def first_lines(text):
    lines = text.split("\n")
    return lines[1:2] if lines[0].startswith("#!") else lines[:1]


def long_functions(text):
    """(line, lines) of functions over the limit; the style puts a function's braces in the first column."""
    begin, found = None, []
    for number, line in enumerate(text.split("\n"), 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            if number - begin + 1 > FUNCTION_LINES:
                found.append((begin, number - begin + 1))
            begin = None
    return found


def check(root):
    complaints = [f"{name}: missing, or cannot be run" for name in COMMANDS if not os.access(os.path.join(root, name), os.X_OK)]
    for path in tree.files(root):
        text = tree.read(root, path)
        is_code = (path.endswith(tree.CODE) and not path.endswith(".pc.in")) or os.path.basename(path) == "CMakeLists.txt" or path in COMMANDS
        if is_code and not any("SPDX-License-Identifier: BSD-3-Clause" in line for line in first_lines(text)):
            complaints.append(f"{path}: the first line is not the SPDX line")
        limit = TEST_LINES if path.startswith("tests/") else FILE_LINES
        if is_code and text.count("\n") > limit:
            complaints.append(f"{path}: {text.count(chr(10))} lines, more than {limit}")
        lines = sum(1 for line in tree.without_comments(text).split("\n") if line.strip())
        if re.match(r"src/alg/[^/]+/", path) and lines > ALGORITHM_LINES:
            complaints.append(f"{path}: {lines} lines of code, more than {ALGORITHM_LINES}")
        if path.endswith((".c", ".h", ".cpp")):
            complaints += [f"{path}:{line}: a function of {lines} lines, more than {FUNCTION_LINES}" for line, lines in long_functions(text)]
    return complaints
