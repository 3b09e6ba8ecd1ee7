# SPDX-License-Identifier: BSD-3-Clause
"""
The rooms of src/core are ordered (docs/architecture.md).  Each may include, and call, the rooms to
its right and src/base.  A call is the name of a function that another file exports, so a callback
counts too.  Calls of all other rooms go where their includes may go (includes.py), also if a file
declares a function itself.  The largest cycle of files that call each other has a limit in every
folder of src and lab.  Each function of src has a name of its own, also if no program links both.

The lint reads the sources, not the object files, so it needs no build.
"""

import collections
import os
import re

import includes
import tree

LINE = ("call", "span", "watch", "team", "job", "plan", "arena", "config", "slice")
BASE = "base"

# folder -> maximum number of files in a cycle of calls, 1 in all others
CYCLES = {"src/core": 2, "src/host": 3, "src/host/loader": 1}
FOLDER = re.compile(r"(?:src|lab)/(?!tests/)\w+(?=/)|bench(?=/)")
SOURCE = (".c", ".h", ".cpp", ".S")

# Functions that the linker chooses from two files.
CHOSEN = {"hud_topo_discover", "main"}

# Functions of huddle.  Others have names of the C library's, which src/host/loader exports, too.
OWN = re.compile(r"hud_|fork_team_")
PUBLIC = "include/huddle/"

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)", re.DOTALL)
BACKEND = re.compile(r"\bHUD_BACKEND\s*\(\s*(\w+)\s*\)")
TOKEN = re.compile(r"(?:\.|->)?\s*\b([A-Za-z_]\w*)")
DEFINED = re.compile(r"([A-Za-z_]\w*)\s*\(")


def room_of(path):
    """Returns the room of a file of core or base, or None if it is in neither."""
    if path.startswith("src/base/"):
        return BASE
    if not path.startswith("src/core/"):
        return None
    room = path.removeprefix("src/core/").split("/")[0]
    return room if room in LINE else "?"


def is_upward(room, target):
    """Reports whether a room may not use another room."""
    if target in (room, BASE):
        return False
    return room not in LINE or target not in LINE or LINE.index(target) < LINE.index(room)


def plain(text):
    """
    Returns C text without comments, strings, attributes and directives, but with macros' bodies.
    """
    text = ATTRIBUTE.sub("", tree.without_comments(text))
    text = BACKEND.sub(r"hud_shm_\1", text).replace("\\\n", " ")
    return re.sub(r"^\s*#\s*define\s+\w+(?:\([^)]*\))?(.*)$", r"{\1}", text, flags=re.MULTILINE)


def pieces(text):
    """Yields (head, body) of each pair of braces at the outermost level."""
    depth, start, opened = 0, 0, 0
    text = re.sub(r"^\s*#.*$", "", plain(text), flags=re.MULTILINE)
    text = re.sub(r"\bextern\s+\{|\bnamespace(\s+\w+)?\s*\{", " ", text)
    for match in re.finditer(r"[{};]", text):
        mark, at = match[0], match.start()
        if mark == "{":
            opened = at if depth == 0 else opened
            depth += 1
        elif mark == "}" and depth > 0:
            depth -= 1
            if depth == 0:
                yield text[start:opened].strip(), text[opened : at + 1]
                start = at + 1
        elif mark == ";" and depth == 0:
            start = at + 1


def read(text, is_cpp):
    """
    Returns (exported functions, static functions, names used in bodies) of a source.  C++ exports
    functions declared extern "C".
    """
    exported, own, used = set(), set(), set()
    for head, body in pieces(text):
        name = DEFINED.search(head)
        if head.endswith(")") and name:
            static = re.search(r"\bstatic\b", head) or (is_cpp and "extern" not in head)
            (own if static else exported).add(name[1])
        for match in TOKEN.finditer(body):
            if not match[0].startswith((".", "->")):
                used.add(match[1])
    return exported, own, used


def read_assembler(text):
    """Returns (exported functions, no static functions, names used) of a source in assembler."""
    text = re.sub(r"^\s*#.*$", "", tree.without_comments(text), flags=re.MULTILINE)
    exported = set()
    for names in re.findall(r"^\s*\.globl\s+(.+)$", text, re.MULTILINE):
        exported |= set(re.findall(r"(?<!\\)\b[A-Za-z_]\w*", names))
    exported -= set(re.findall(r"\.type\s+(\w+)\s*,\s*[%@]object", text))
    return exported, set(), set(re.findall(r"\b[A-Za-z_]\w*", text)) - exported


def stem(path):
    return os.path.splitext(path)[0]


class Sources:
    """
    The names that the files of FOLDER export and use.  A header and its source count as one file,
    and so do sources in C and in assembler with the same name.
    """

    def __init__(self, root):
        self.text, self.home, self.uses = {}, {}, collections.defaultdict(set)
        self.twice = []  # (name, one file, another file)
        own = collections.defaultdict(set)
        for path in tree.files(root):
            if FOLDER.match(path) and path.endswith(SOURCE):
                self.text[path] = tree.read(root, path)
        for path, text in self.text.items():
            exported, static, used = (
                read_assembler(text) if path.endswith(".S") else read(text, path.endswith(".cpp"))
            )
            own[path] |= static
            self.uses[path] |= used
            if not path.endswith(".h"):
                twice = sorted(
                    name for name in exported & set(self.home) if path.startswith("src/")
                )
                self.twice += [(name, self.home[name], path) for name in twice]
                self.home.update(dict.fromkeys(exported, path))
        for path, names in self.uses.items():
            names -= own[path] | own.get(stem(path) + ".h", set())

    def calls(self, path):
        """Yields (function, exporting file) of each call to another file."""
        for name in sorted(self.uses[path]):
            home = self.home.get(name)
            if home and stem(home) != stem(path):
                yield name, home


def largest_cycle(sources, folder):
    """Returns the largest set of files that call each other, directly or indirectly."""
    edges = collections.defaultdict(set)
    for path in sources.text:
        if path.startswith(folder + "/"):
            for _, home in sources.calls(path):
                if home.startswith(folder + "/"):
                    edges[stem(path)].add(stem(home))
    reached = {}
    for node in edges:
        seen, ahead = set(), [node]
        while ahead:
            for below in edges.get(ahead.pop(), ()):
                if below not in seen:
                    seen.add(below)
                    ahead.append(below)
        reached[node] = seen
    cycles = [
        sorted(o for o in seen if node in reached.get(o, ()))
        for node, seen in sorted(reached.items())
    ]
    return max(cycles, key=len, default=[])


def check_cycles(sources):
    complaints = []
    for folder in sorted({FOLDER.match(path)[0] for path in sources.text} | set(CYCLES)):
        cycle, most = largest_cycle(sources, folder), CYCLES.get(folder, 1)
        if len(cycle) > most:
            complaints.append(
                f"{folder}: {len(cycle)} files call each other in a cycle, {most} may: "
                + ", ".join(cycle)
            )
    return complaints


def declared_publicly(root):
    """Returns the names in the public headers, which every room may call."""
    texts = [tree.read(root, path) for path in tree.files(root) if path.startswith(PUBLIC)]
    return set(re.findall(r"\bhud_\w+(?=\s*\()", "\n".join(texts)))


def check_calls(root, sources):
    """Returns complaints about calls of rooms that the calling file may not include."""
    public = declared_publicly(root)
    return [
        f"{path}: {includes.room_of(path)} may not call {name} of {home}"
        for path in sources.text
        for name, home in sources.calls(path)
        if OWN.match(name) and name not in public and not includes.may_use(path, home)
    ]


def upward(kind, edges):
    """Returns complaints about upward edges."""
    return [
        f"{path}: {room} may not {kind} {what} of {target}"
        for path, room, what, target in edges
        if is_upward(room, target)
    ]


def check(root):
    sources = Sources(root)
    rooms = {path: room_of(path) for path in sources.text}
    complaints = [f"{path}: in no room of core" for path, room in rooms.items() if room == "?"]
    includes = [
        (path, room, included, room_of("src/" + included))
        for path, room in rooms.items()
        if room
        for included in INCLUDE.findall(sources.text[path])
        if room_of("src/" + included)
    ]
    calls = [
        (path, room, name, rooms[home])
        for path, room in rooms.items()
        if room
        for name, home in sources.calls(path)
        if rooms[home]
    ]
    complaints += upward("include", includes) + upward("call", calls)
    complaints += [
        f"{path}: {name} is also the name of a function of {other}"
        for name, other, path in sources.twice
        if name not in CHOSEN and other.startswith("src/")
    ]
    return complaints + check_calls(root, sources) + check_cycles(sources)
