# SPDX-License-Identifier: BSD-3-Clause
"""
Makes the reference of the API from the comments of include/huddle.  Each part of a header becomes a
section, with its functions and structures and the comments above them.
"""

import re

HEADERS = ("huddle.h", "request.h", "messages.h")
PART = re.compile(r"^/\* -+ (.+?) -+ \*/$", re.MULTILINE)
# An optional comment and its subject, up to an empty line or the next comment in column 0.
ITEM = re.compile(
    r"^(/\*.*?\*/\n)?((?:(?!/\*|\n|#(?!define HUD_)|extern|\}\n#)[^\n]*\n)+)",
    re.DOTALL | re.MULTILINE,
)
CODE = re.compile(
    r"(?<![\w`])((?:struct |enum )?(?:hud|HUD|HUDDLE|MPI)_\w+(?:\.\w+|->\w+)*"
    r"|\w+(?:->|==| == )[\w>.-]+)"
)


def plain(comment):
    """Returns the text of a comment."""
    inner = re.sub(r"^\s*/\*+\n?|\s*\*/\s*$", "", comment)
    return re.sub(r"^ \* ?", "", inner, flags=re.MULTILINE).strip("\n ")


def prose(text):
    """
    Converts a comment to Markdown.  Names become code; a paragraph with columns or indentation is
    shown unchanged.
    """
    parts = []
    for paragraph in re.split(r"\n\s*\n", text):
        if re.search(r"^\s{2,}\S|^[\w./]+\s{3,}\S", paragraph, re.MULTILINE):
            parts.append(f"```text\n{paragraph}\n```")
        else:
            words = re.sub(r"(?<!\w)\*(\w+)\*(?!\w)", r"\1", paragraph)
            words = re.sub(r"([<>\[\]*])", r"\\\1", words)
            parts.append(CODE.sub(lambda match: f"`{match[1]}`", words))
    return "\n\n".join(parts)


def name_of(code):
    """
    Returns (directive, signature) of the declaration in a piece of code, or None if it is shown as
    code only.
    """
    function = re.match(r"HUD_API ([^;{]+\));$", code.strip(), re.DOTALL)
    if function:
        return "function", " ".join(function[1].split())
    whole = re.match(r"(struct|enum) (\w+) \{", code.strip())
    return (whole[1], whole[2]) if whole else None


def split(code):
    """Splits declarations of functions that share a comment."""
    return [one.strip("\n") for one in re.split(r"\n(?=HUD_API)", code.strip("\n"))]


def item(comment, code):
    about = prose(plain(comment)) if comment else ""
    named = name_of(code)
    if not named:
        return f"{about}\n\n```c\n{code}\n```\n"
    directive, signature = named
    body = about if directive == "function" else f"{about}\n\n```c\n{code}\n```"
    fence = "````"
    return f"{fence}{{c:{directive}}} {signature}\n\n{body}\n{fence}\n"


def part(text):
    found = []
    for match in ITEM.finditer(text):
        comment, code = match[1], match[2]
        if "HUD_API __attribute__" in code or not code.strip("\n }"):
            continue
        for one in split(code):
            found.append(item(comment, one))
            comment = None
    return "\n".join(found)


def section(name, text):
    """Returns a header's section: its first comment, then its parts."""
    comments = re.findall(r"^/\*\n.*?\*/\n", text, re.DOTALL | re.MULTILINE)
    body = text[text.index("#endif", text.index("extern")) + len("#endif") :]
    body = body[: body.rindex("#ifdef __cplusplus")]
    version = re.findall(r"^#define HUD_VERSION.*\n", text, re.MULTILINE)
    body = body.replace("".join(version), "")
    pieces = PART.split(body)
    intro = plain(comments[0]) if name == "huddle.h" or name == "request.h" else ""
    intro = re.sub(r"^\S+ - ", "", intro)
    parts = [f"## {name}\n", prose(intro[:1].upper() + intro[1:]) + "\n", part(pieces[0])]
    for title, inner in zip(pieces[1::2], pieces[2::2]):
        parts.append(f"### {title[0].upper()}{title[1:]}\n\n{part(inner)}")
    return "\n".join(parts)


def page(root):
    texts = [
        section(name, (root / "include/huddle" / name).read_text(encoding="utf-8"))
        for name in HEADERS
    ]
    head = (
        "# API\n\nThe library without MPI: `include/huddle/huddle.h`, the only header to include."
        " `examples/team.c` is a program that uses it.\n\n"
    )
    return head + "\n".join(texts)
