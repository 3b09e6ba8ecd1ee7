# SPDX-License-Identifier: BSD-3-Clause
"""Words that are allowed only in some places."""

import re

import tree

ROOMS = r"^(src|lab|include|cli|bench)/.*\.(c|h|cpp|def)$"
ATOMIC = (
    r"^src/mem/|^src/base/process_atomics\.h$"
    r"|^src/base/valgrind\.h$"  # instructions without effect
    r"|^bench/((line|cold)\.h|(shots|bare|instructions)\.c)$"
    r"|^lab/bench/(pinned\.[ch]|fit\.c|machine_(lines|stores|scans|homes|calls)\.c)$"
)

# (description, pattern, paths where it is searched, paths where it is allowed, files that are
# exempt by their content, whether comments count)
RULES = (
    (
        (
            "atomics, fences, futexes and volatile belong to src/mem (process-local ones:"
            " base/process_atomics.h)"
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
        "an atomic object of one process is touched through base/process_atomics.h only",
        r"\b(_Atomic|atomic_\w+)\b",
        ROOMS,
        ATOMIC,
        r'"base/process_atomics\.h"',
        False,
    ),
    (
        "an algorithm keeps no state of its own, waits in mem only and calls no system",
        (
            r"\b(malloc|calloc|free|printf|sched_yield|usleep|nanosleep"
            r"|_Thread_local|thread_local|getenv)\b"
            r"|^static (?!const)[^(=;]*[=;]"
        ),
        r"^(src|lab)/alg/[^/]+/.*\.c$",
        r"^$",
        None,
        False,
    ),
    (
        "an exit status is named in cli/common/exit_status.py",
        r"\bCliError\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*,\s*\d,?\s*\)",
        r"^(cli|lab/cli)/.*\.py$",
        r"^$",
        None,
        True,
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
