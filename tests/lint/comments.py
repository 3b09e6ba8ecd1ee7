# SPDX-License-Identifier: BSD-3-Clause
"""
A comment above a function, a method or the type of a function, and the docstring of a function of
Python, begins with a verb in the third person (verbs.txt lists them), and has few words that stand
for another one.  No comment begins with a genitive ("of a core", "the team's"): it names the thing
first.  A comment behind code, or above a constant of Python, begins with no preposition or
conjunction at all ("for messages", "until all are polling").  The docstring of a class says what
the class is: it begins with a noun and a capital letter, and ends with a full stop.
"""

import ast
import io
import os
import re
import tokenize

import tree

SKIPPED = ("/* SPDX", "/* ----")  # a file's head, a heading
VERBS_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "verbs.txt")
with open(VERBS_FILE) as file:
    VERBS = frozenset(file.read().split())
FIRST_WORD = re.compile(r"(?P<word>[A-Za-z-]+)\b(?!')(?P<of> of\b)?")
STANDING_FOR = re.compile(r"\b(?:it|that|those|what|one)\b", re.IGNORECASE)
MAX_STANDING_FOR = 1  # number of these words in a comment
OWNER_OR_SAME = (  # "the team's; 0 at first", "the same of reads"
    r"(?:(?:the|an?) )?[\w-]+(?:'s|s') *(?:$|\*/|[,;:(]|in\b|if\b)"
    r"|(?:the same|likewise) *(?:$|\*/|[,;:(]|of\b|as\b|for\b|but\b|when\b)"
)
GENITIVE = re.compile(
    r"(?P<code>.*?)/\* (?:\[[^]]*\] )?"
    r"(?:(?:of|from|between|within|into|out of|whose|for (?:who|what))\b"
    rf"|{OWNER_OR_SAME})",
    re.IGNORECASE,
)
FRAGMENT = re.compile(
    r"(?:of|from|between|within|in|into|out|on|at(?! (?:most|least))|by|to|for|with|without|per"
    r"|about|along|behind|next to|like|as|so|that|which|who|whose|if|unless|because|since|while"
    rf"|until|before|after|when|where|during|and|or)\b|{OWNER_OR_SAME}",
    re.IGNORECASE,
)
CLASS_FRAGMENT = re.compile(
    rf"{FRAGMENT.pattern}|(?:what|so many|its|their)\b|[a-z]\w*:", re.IGNORECASE
)
PARAMETER = re.compile(r"[.;] +(?P<words>[a-z_*]+: (?:of\b|(?:the )?[\w ]+(?:'s|s')(?:[.,;]|$)))")
BEHIND = re.compile(r"\s*(?![\s*]|/\*).*?/\* ?(?P<words>.*)")
DECLARATION_LINES = 8
FUNCTION = re.compile(
    r"(?:__attribute__\(\([^()]*(?:\([^()]*\))?\)\)\s*)?"
    r"(?!extern const\b|ALG_DEFINE\b|(?:return|else|if|for|while|do|switch|case)\b)"
    r"[\w\s*]+?(?:\b\w+|\(\s*\*\s*(?:const\s)?\w+(?:\[\w*\])?\s*\))\s*"
    r"\([^=]*\)\s*(?:\w+(?:\([^)]*\))?\s*)*[{;]"
)
PYTHON_FUNCTION = re.compile(r"(?:async )?def |@")
PYTHON_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*(?:, [A-Z][A-Z0-9_]*)*(?:: .*)? = ")


def declaration(lines, begin):
    """Returns the declaration that follows a comment, up to its brace or semicolon."""
    parts = []
    for line in map(str.strip, lines[begin : begin + DECLARATION_LINES]):
        if not line or line.startswith(("/*", "#")):
            break
        parts.append(line)
        if line.startswith("{") or line.endswith((";", "{")):
            break
    return " ".join(parts)


def above_functions(text):
    """Yields (line, text) of each comment right above a function."""
    lines = text.split("\n")
    begin = None
    for number, line in enumerate(lines):
        if line.lstrip().startswith("/*"):
            begin = number
        if begin is not None and "*/" in line:
            whole = [part.strip() for part in lines[begin : number + 1]]
            if not whole[0].startswith(SKIPPED) and FUNCTION.fullmatch(
                declaration(lines, number + 1)
            ):
                yield begin + 1, " ".join(part.strip(" /*") for part in whole).strip()
            begin = None


def begins_with_a_verb(comment):
    """Returns whether the first word is in the list, and not a noun, as in "Writes of a rank"."""
    found = FIRST_WORD.match(comment)
    return found is not None and found["word"] in VERBS and not found["of"]


def no_verb(place, comment):
    """Returns the complaint about a comment that begins with no verb of the list."""
    return (
        f"{place}: begin with a verb in the third person (add a new one to "
        f"tests/lint/verbs.txt): {comment[:60]}"
    )


def check_class(place, words):
    """Returns the complaints about the docstring of a class, which is a noun phrase."""
    complaints = []
    if CLASS_FRAGMENT.match(words) or begins_with_a_verb(words):
        complaints.append(f"{place}: begin with the thing that the class is: {words[:60]}")
    if words[0].islower():
        complaints.append(f"{place}: begin with a capital letter: {words[:60]}")
    if not words.endswith("."):
        complaints.append(f"{place}: end with a full stop: {words[-60:]}")
    return complaints


def check_function(place, comment):
    """Returns the complaints about the comment above a function, or the docstring in a function."""
    complaints = []
    if not begins_with_a_verb(comment):
        complaints.append(no_verb(place, comment))
    complaints += [
        f"{place}: name the thing: {found['words']}" for found in PARAMETER.finditer(comment)
    ]
    standing = STANDING_FOR.findall(comment)
    if len(standing) > MAX_STANDING_FOR:
        complaints.append(f"{place}: name the thing, not {', '.join(standing)}")
    return complaints


def check_text(path, text):
    """Returns the complaints about one file."""
    complaints = []
    for line, comment in above_functions(text):
        complaints += check_function(f"{path}:{line}", comment)
    for number, line in enumerate(text.split("\n"), 1):
        found = GENITIVE.match(line)
        if found:
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


def above_python(text):
    """Yields (line, words, code) of each comment above a line of code."""
    begin, words = 0, []
    for number, line in enumerate(map(str.strip, text.split("\n")), 1):
        if line.startswith("#"):
            begin = number if not words else begin
            words.append(line.lstrip("#: "))
        else:
            if line and words:
                yield begin, " ".join(words), line
            words = []


def check_above_python(path, text):
    """Returns the complaints about comments above the functions and constants of a file."""
    complaints = []
    for line, words, code in above_python(text):
        if PYTHON_FUNCTION.match(code) and not begins_with_a_verb(words):
            complaints.append(no_verb(f"{path}:{line}", words))
        if PYTHON_CONSTANT.match(code) and FRAGMENT.match(words):
            complaints.append(f"{path}:{line}: begin with the thing: {words[:60]}")
    return complaints


def check_python(path, text):
    """Returns the complaints about the comments and docstrings of one file."""
    complaints = [*fragments(path, behind_python(text)), *check_above_python(path, text)]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            words = ast.get_docstring(node)
            checked = check_class if isinstance(node, ast.ClassDef) else check_function
            complaints += checked(f"{path}:{node.lineno}", words) if words else []
    return complaints


def check(root):
    """Returns the complaints about all files."""
    complaints = []
    for path in tree.files(root):
        if path.endswith(tree.C_CODE):
            complaints += check_text(path, tree.read(root, path))
        elif path.endswith(".py"):
            complaints += check_python(path, tree.read(root, path))
    return complaints
