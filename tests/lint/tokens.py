# SPDX-License-Identifier: BSD-3-Clause
"""Words that may stand in some places only."""

import re

import tree

ROOMS = r"^(src|include|cli|bench)/.*\.(c|h|cpp|def)$"
ATOMIC = (
    r"^src/mem/|^src/core/local\.h$"
    r"|^src/fiber/valgrind\.h$"  # instructions without effect
    r"|^bench/(line\.h|pinned\.[ch]|(shots|bare|fit|instructions)\.c"
    r"|machine_(lines|stores|scans|homes|calls)\.c)$"
)

# (what it is, pattern, paths where it is looked for, paths where it is allowed, files that are
# exempt by what they contain, comments count)
RULES = (
    (
        (
            "atomics, fences, futexes and volatile belong to src/mem (process-local ones:"
            " core/local.h)"
        ),
        r"\b(atomic_(load|store|exchange|compare|fetch|flag_\w|thread_f|signal_f|init)\w*"
        r"|__atomic_\w+|__sync_\w+|volatile|FUTEX_\w+|SYS_futex|__asm__|asm)\b"
        r"|<stdatomic\.h>|<linux/futex\.h>",
        ROOMS,
        ATOMIC,
        None,
        False,
    ),
    (
        "an atomic object of one process is touched through core/local.h only",
        r"\b(_Atomic|atomic_\w+)\b",
        ROOMS,
        ATOMIC,
        r'"core/local\.h"',
        False,
    ),
    (
        "an algorithm keeps no state of its own, waits in mem only and calls no system",
        (
            r"\b(malloc|calloc|free|printf|sched_yield|usleep|nanosleep"
            r"|_Thread_local|thread_local|getenv)\b"
            r"|^static (?!const)[^(=;]*[=;]"
        ),
        r"^src/alg/[^/]+/.*\.c$",
        r"^$",
        None,
        False,
    ),
    (
        "a path of a particular machine",
        r"(?<![\w.$}/-])/(work|root|home/\w+|Users)/\S*",
        r".",
        r"^$",
        None,
        True,
    ),
    (
        "a path outside the project; tests may use it if it exists",
        r"\.\./shared\b",
        r".",
        r"^tests/",
        None,
        True,
    ),
    (
        "a registry's host name",
        r"\b(pypi\.org|pythonhosted\.org|deb\.debian\.org|(archive|ports)\.ubuntu\.com)\b",
        r".",
        r"^$",
        None,
        True,
    ),
    (
        "unfinished work",
        r"(?i)\b(TODO|FIXME|XXX|stub|stubs|placeholder|not implemented)\b",
        r".",
        r"^$",
        None,
        True,
    ),
)
EXEMPT = r"^tests/lint/(tokens|selftest)\.py$"


def check(root):
    complaints = []
    for path in tree.files(root):
        if re.search(EXEMPT, path):
            continue
        text = tree.read(root, path)
        code = tree.without_comments(text) if path.endswith(tree.C_CODE) else text
        for what, pattern, where, allowed, exempt, comments in RULES:
            if (
                re.search(where, path)
                and not re.search(allowed, path)
                and not (exempt and re.search(exempt, text))
            ):
                found = tree.matches(re.compile(pattern, re.MULTILINE), text if comments else code)
                complaints += [f"{path}:{line}: '{word}': {what}" for line, word in found]
    return complaints
