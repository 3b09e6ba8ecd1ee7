# SPDX-License-Identifier: BSD-3-Clause
"""
A comment above a function of C, and the docstring of a function of Python, begins with a verb in
the third person ("Returns", "Waits").  A comment above a function of C has few words that stand for
another one.  A comment above or behind a field or a statement is no mere genitive ("of a core"): it
names the thing first.  In NOUN_FIRST a comment behind code begins with no preposition or
conjunction at all ("for messages", "until all are polling").
"""

import ast
import io
import re
import tokenize

import tree

SKIPPED = ("/* SPDX", "/* ----")  # a file's head, a heading
VERB = re.compile(r"[A-Z][a-z-]*[^\Ws]s\b(?!')|Is\b|Has\b|Does\b|Passes\b|Discusses\b")
# Words that end like such a verb, or are one only by chance.
NO_VERBS = frozenset(
    """
    This Its As Always Perhaps Towards Besides Whereas Unless Plus Is Was Thus Ours Theirs Others
    Bytes Ranks Members Names Nodes Pieces Pages Processes Seconds Requests Steps Fragments Sizes
    Tiles Levels Slots Rows Options Numbers Cells Lines Blocks Words Values Places Files Sums
    Arguments Elements Teams Tests Flags Rules Settings Texts Sentences Facts Ratios Algorithms
    Parameters Microseconds Versions Cores Pids Pairs
    """.split()
)
STANDING_FOR = re.compile(r"\b(?:it|that|those|what|one)\b", re.IGNORECASE)
MOST = 1  # of these in a comment
GENITIVE = re.compile(
    r"(?P<code>.*?)/\* (?:of|from|between|within|into|out of|whose|for (?:who|what))\b",
    re.IGNORECASE,
)
NOUN_FIRST = re.compile(
    r"(?:bench|lab(?!/tests)|include|cli|examples|packaging|src(?!/core/(?:call|job|plan|span)/))/"
)
FRAGMENT = re.compile(
    r"(?:of|from|between|within|in|into|out|on|at(?! (?:most|least))|by|to|for|with|without|per"
    r"|about|along|behind|next to|like|as|so|that|which|who|whose|if|unless|because|since|while"
    r"|until|before|after|when|where|during|and|or)\b",
    re.IGNORECASE,
)
BEHIND = re.compile(r"\s*(?![\s*]|/\*).*?/\* ?(?P<words>.*)")
DECLARATION_LINES = 8
FUNCTION = re.compile(
    r"(?!typedef\b|extern const\b|ALG_DEFINE\b)"
    r"[\w\s*]+?\b\w+\s*\([^=]*\)\s*(?:\w+(?:\([^)]*\))?\s*)*[{;]"
)


def declaration(lines, begin):
    """Returns what follows a comment, up to the brace or semicolon that ends a declaration."""
    taken = []
    for line in lines[begin : begin + DECLARATION_LINES]:
        if not line.strip() or line.startswith(("/*", "#")):
            break
        taken.append(line)
        if line.startswith("{") or line.endswith((";", "{")):
            break
    return " ".join(taken).strip()


def above_functions(text):
    """Yields (line, text) of each comment right above a function."""
    lines = text.split("\n")
    begin = None
    for number, line in enumerate(lines):
        if line.startswith("/*"):
            begin = number
        if begin is not None and "*/" in line:
            whole = lines[begin : number + 1]
            if not whole[0].startswith(SKIPPED) and FUNCTION.fullmatch(
                declaration(lines, number + 1)
            ):
                yield begin + 1, " ".join(part.strip(" /*") for part in whole).strip()
            begin = None


def begins_with_a_verb(comment):
    """Returns whether the first word looks like a verb in the third person."""
    found = VERB.match(comment)
    return found is not None and found[0] not in NO_VERBS


def check_text(path, text):
    """Returns the complaints about one file."""
    complaints = []
    for line, comment in above_functions(text):
        if not begins_with_a_verb(comment):
            complaints.append(
                f"{path}:{line}: begin with a verb in the third person: {comment[:60]}"
            )
        standing = STANDING_FOR.findall(comment)
        if len(standing) > MOST:
            complaints.append(f"{path}:{line}: name the thing, not {', '.join(standing)}")
    for number, line in enumerate(text.split("\n"), 1):
        found = GENITIVE.match(line)
        if found and line.startswith(" "):
            words = line[found.end("code") :].strip(" /*")
            complaints.append(f"{path}:{number}: begin with the thing: {words[:60]}")
    return complaints + fragments(
        path,
        (
            (number, found["words"].rstrip(" */"))
            for number, line in enumerate(text.split("\n"), 1)
            if (found := BEHIND.match(line))
        ),
    )


def fragments(path, comments):
    """Returns complaints about comments behind code, (line, words), that name no thing first."""
    if not NOUN_FIRST.match(path):
        return []
    return [
        f"{path}:{line}: begin behind code with a noun: {words[:60]}"
        for line, words in comments
        if FRAGMENT.match(words)
    ]


def behind_python(text):
    """Yields (line, words) of each comment behind code."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and token.line[: token.start[1]].strip():
            yield token.start[0], token.string.lstrip("#: ")


def check_python(path, text):
    """Returns the complaints about the docstrings of one file's functions."""
    functions = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    return [
        f"{path}:{function.lineno}: begin with a verb in the third person: {words[:60]}"
        for function in functions
        if (words := ast.get_docstring(function)) and not begins_with_a_verb(words)
    ] + fragments(path, behind_python(text))


def check(root):
    """Returns the complaints about all files."""
    complaints = []
    for path in tree.files(root):
        if path.endswith((".c", ".h", ".cpp")):
            complaints += check_text(path, tree.read(root, path))
        elif path.endswith(".py"):
            complaints += check_python(path, tree.read(root, path))
    return complaints
