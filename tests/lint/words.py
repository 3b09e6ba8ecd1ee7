# SPDX-License-Identifier: BSD-3-Clause
"""
Words that the project does not use, and their replacements, in documents, messages and comments.
"""

import io
import re
import tokenize

import tree

EXEMPT = ("tests/lint/words.py", "tests/lint/selftest.py")
DOCUMENT, MESSAGE, COMMENT = "document", "message", "comment"
ALL = (DOCUMENT, MESSAGE, COMMENT)
READ = (DOCUMENT, MESSAGE)  # read by users

# (unwanted words, replacement, where)
WORDS = (
    (r"(?:has|have|had) not one\b", "has none", ALL),
    (r"of one mind\b", "agree", ALL),
    (r"for want of\b", "without, because there is no", ALL),
    (r"(?:(?<!\w)of )?the own\b", "its own", ALL),
    (
        r"\bis no (?:size|number|directory|folder|file|range|UTF-8|valid|name|machine|type|"
        r"algorithm|parameter|regular)\b",
        "is not a ...",
        ALL,
    ),
    (r"\bwhoever\b", "the rank that, the user who", ALL),
    (r"\b(?:says|said|say|saying) so\b", "reports, prints", ALL),
    (r"\bcrowd(?:s|ed)?\b", "oversubscribed (more ranks than processors)", ALL),
    (r"\bmend(?:s|ed|ing)?\b", "fix", ALL),
    (r"\bbeside(?! itself)\b", "next to, compared with, apart from", ALL),
    (r"\bpast (?:the|all) caches\b", "with non-temporal stores", ALL),
    (r"\b(?:left|goes|go) to the MPI\b", "falls back to the MPI", ALL),
    (r"\b(?:calls|rank|ranks) (?:are|is|were|was) (?:not )?taken\b", "handled", ALL),
    (r"\bhuddle (?:takes|took) (?:every|no|the) calls?\b", "handles", ALL),
    (r"\b(?:stands|sits)\b", "is, is in", READ),
    (r"\bblink\b", "less than a second", READ),
    (r"\bprocessor each\b|\bcore each\b", "one core per rank", READ),
    (r"\b(?:left|set) aside\b", "ignored", READ),
    (r"\bthe house\b", "the project", READ),
)
PATTERNS = tuple(
    (re.compile(word.replace(" ", r"[ \n*#]+"), re.IGNORECASE), instead, where)
    for word, instead, where in WORDS
)
SENTENCE_WORDS = 30
ANY = re.compile("|".join(pattern.pattern for pattern, _, _ in PATTERNS), re.IGNORECASE)
COLUMNS = 100  # width of prose; tables, code and links may be wider
PROSE = r"^(README|CONTRIBUTING|CHANGELOG|docs/(?!simulated|reproduced|settings)\w.*)\.md$"


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def of_c(text):
    """Returns {place: text} with everything else blanked, so that line numbers do not change."""
    parts = {MESSAGE: [], COMMENT: []}
    end = 0
    for match in re.finditer(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', text, re.DOTALL):
        place = MESSAGE if match[0].startswith('"') else COMMENT
        for other, found in parts.items():
            found.append(blank(text[end : match.start()]))
            found.append(match[0] if other == place else blank(match[0]))
        end = match.end()
    return {place: "".join(found) for place, found in parts.items()}


def of_python(text):
    """Returns the same for Python.  A text that is a statement of its own is a docstring."""
    lines = text.split("\n")
    parts = {place: [blank(line) for line in lines] for place in (MESSAGE, COMMENT)}
    start = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_text = token.type == tokenize.STRING
        if is_text or token.type == tokenize.COMMENT:
            place = MESSAGE if is_text and not start else COMMENT
            (row, column), (last, _) = token.start, token.end
            for number, line in zip(range(row, last + 1), token.string.split("\n")):
                kept, at = parts[place][number - 1], column if number == row else 0
                parts[place][number - 1] = kept[:at] + line + kept[at + len(line) :]
        skipped = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)
        if token.type not in skipped:
            start = token.type == tokenize.NEWLINE
    return {place: "\n".join(found) for place, found in parts.items()}


SCRIPTS = (".rules", ".toml", ".txt", ".sh", ".cmake")


def of_script(text):
    return {COMMENT: "\n".join(line if "#" in line else "" for line in text.split("\n"))}


def places(path, text):
    if path.endswith(".md"):
        return {DOCUMENT: text}
    if path.endswith(tree.C_CODE):
        return of_c(text)
    if path.endswith(".py"):
        return of_python(text)
    if path.endswith(SCRIPTS) or path in ("test", "quickstart"):
        return of_script(text)
    return {}


def long_sentences(text):
    """Yields (line, words) of long sentences of prose, without tables, code and lists of links."""
    text = re.sub(r"^```.*?^```|^[|#].*?$", lambda m: blank(m[0]), text, flags=re.S | re.M)
    for match in re.finditer(r"(?:[^.!?:\n]|[.:](?=[\w/])|\n(?!\s*(?:\n|[*-] |\d+\. )))+", text):
        words = re.findall(r"[^\s*]*\w[^\s*]*", re.sub(r"`[^`]*`", "code", match[0]))
        if len(words) > SENTENCE_WORDS:
            line = text.count("\n", 0, match.start() + len(match[0]) - len(match[0].lstrip())) + 1
            yield line, len(words)


def wide_lines(text):
    """Yields wide lines of prose, without code, tables and words that cannot be broken."""
    text = re.sub(r"^```.*?^```|^[|].*?$", lambda m: blank(m[0]), text, flags=re.S | re.M)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line.rstrip()) > COLUMNS and " " in line.strip():
            yield number


def complaints_of(path, text):
    found = []
    parts = places(path, text) if ANY.search(text) else {}  # most files have no such word
    for place, part in parts.items():
        for pattern, instead, where in PATTERNS:
            if place in where:
                found += [
                    f"{path}:{line}: '{' '.join(word.split())}' in a {place}: write {instead}"
                    for line, word in tree.matches(pattern, part)
                ]
    if re.match(PROSE, path):
        found += [f"{path}:{line}: more than {COLUMNS} columns" for line in wide_lines(text)]
        found += [
            f"{path}:{line}: a sentence of {words} words, more than {SENTENCE_WORDS}"
            for line, words in long_sentences(text)
        ]
    return found


def check(root):
    return [
        complaint
        for path in tree.files(root)
        if path not in EXEMPT
        for complaint in complaints_of(path, tree.read(root, path))
    ]
