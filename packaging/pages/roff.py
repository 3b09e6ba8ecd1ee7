# SPDX-License-Identifier: BSD-3-Clause
"""Text and Markdown as source of man pages, in the macros of man(7)."""

import re

# What Markdown of docs/ has inside a line.
INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<bold>[^*]+)\*\*|(?<!\w)\*(?P<slanted>[^*\s][^*]*)\*"
    r"|!?\[(?P<link>[^\]]*)\]\((?P<to>[^)]*)\)"
)


def plain(text):
    """Characters that roff would take for its own."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")


def line(text):
    """A line of text must not begin as a request."""
    return "\\&" + text if text.startswith((".", "\\(aq")) else text


def inline(text):
    out, end = [], 0
    for found in INLINE.finditer(text):
        out.append(plain(text[end : found.start()]))
        if found["link"] is not None:
            out.append(inline(found["link"]))
        else:
            font = "I" if found["slanted"] else "B"
            words = found["code"] or found["bold"] or found["slanted"]
            out.append(f"\\f{font}{plain(words)}\\fR")
        end = found.end()
    return "".join(out) + plain(text[end:])


def sentences(text):
    """One on a line, so that roff sets the space after it."""
    joined = re.sub(r"\s+", " ", text).strip()
    return "\n".join(line(part) for part in re.split(r"(?<=[.:;]) (?=[A-Z(])", inline(joined)))


def code(lines):
    body = "\n".join(line(plain(text.rstrip())) or "\\&" for text in lines)
    return f".PP\n.in +4n\n.nf\n{body}\n.fi\n.in\n"


def cells(row):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip()[1:-1])]


def rows(lines):
    """A table: the first column is the term, the others are sentences with their headings."""
    heads, *rest = [cells(row) for row in lines if not re.fullmatch(r"[\s|:-]+", row)]
    out = []
    for first, *others in rest:
        out.append(f".TP\n{line(inline(first))}\n")
        for number, (head, cell) in enumerate(zip(heads[1:], others)):
            named = f"{head}: {cell}" if len(others) > 1 and number + 1 < len(others) else cell
            if cell:
                out.append(("" if number == 0 else ".br\n") + sentences(named) + "\n")
        if not any(others):
            out.append("\\&\n")
    return "".join(out)


def blocks(text):
    """[lines]: paragraphs, items, code, tables, headings."""
    out, block, fenced = [], [], False
    for text_line in text.splitlines():
        mark = text_line.startswith("```")
        begins = re.match(r"[*#]|\d+\. |\|", text_line) and not (
            block and text_line.startswith("|") and block[0].startswith("|")
        )
        if not fenced and (mark or begins or not text_line.strip()) and block:
            out.append(block)
            block = []
        if fenced or text_line.strip():
            block.append(text_line)
        if mark and fenced:
            out.append(block)
            block = []
        fenced = fenced != mark
    return out + ([block] if block else [])


def markdown(text):
    """Without the page's title.  Headings become subsections."""
    out = []
    for block in blocks(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)):
        first = block[0]
        if first.startswith("# "):
            continue
        if first.startswith("#"):
            out.append(f".SS {inline(first.lstrip('#').strip())}\n")
        elif first.startswith("```"):
            out.append(code(block[1:-1]))
        elif first.startswith("|"):
            out.append(rows(block))
        elif first.startswith("!["):
            continue
        elif item := re.match(r"(\*|\d+\.) ", first):
            mark = "\\(bu" if item[1] == "*" else item[1]
            out.append(f".IP {mark} 4\n{sentences(' '.join([first[item.end():], *block[1:]]))}\n")
        else:
            out.append(f".PP\n{sentences(' '.join(block))}\n")
    return re.sub(r"(\.S[SH] .*\n)\.PP\n", r"\1", "".join(out))


def section(title, body):
    return re.sub(r"^(\.SH .*\n)\.PP\n", r"\1", f".SH {title}\n{body}")
