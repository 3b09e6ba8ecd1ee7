# SPDX-License-Identifier: BSD-3-Clause
"""
Where the parts of huddle lie, in the build tree as in an installation, and how the library is
asked.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from .exit_status import BAD_USE, FAILED

TEXT: Any = {
    "encoding": "utf-8",
    "errors": "replace",
}  # encoding of what our programs print, in any locale


class CliError(Exception):
    """An error of one line for the user.  main() prints the line and exits with the status."""

    def __init__(self, line: str, status: int = FAILED) -> None:
        super().__init__(line)
        self.status = status


class Layout:
    """The installed folders.  As in CMake, each is relative to the prefix unless it is absolute."""

    def __init__(
        self,
        prefix: str,
        libs: str,
        plugins: str,
        tools: str,
        share: str,
        sysconf: str,
        programs: str = "bin",
    ) -> None:
        self.prefix = prefix
        self.bin = os.path.join(prefix, programs)
        self.libs = os.path.join(prefix, libs)
        self.plugins = os.path.join(prefix, plugins)
        self.tools = os.path.join(prefix, tools)
        self.machines = os.path.join(prefix, share, "machines")
        self.evidence = os.path.join(prefix, share, "evidence")
        self.sysconf = os.path.join(prefix, sysconf)

    @property
    def launcher(self) -> str:
        return os.path.join(self.bin, "huddle")

    def front_ends(self) -> dict[str, str]:
        """
        Returns {"openmpi-4.1": path, ..., "mpich": path}, the front ends that are installed here.
        """
        found = {}
        for name in sorted(os.listdir(self.plugins)) if os.path.isdir(self.plugins) else []:
            path = os.path.join(self.plugins, name)
            component = os.path.join(path, "mca_coll_huddle.so")
            if os.path.isfile(component):
                found[name] = component
            elif name == "libhuddle-mpich.so":
                found["mpich"] = path
        return found

    def program(self, name: str) -> str:
        return os.path.join(self.tools, name)

    def question(
        self, name: str, question: dict[str, Any], names: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """
        Sends a JSON object to a program of huddle and returns the program's JSON object.  The
        program itself reports a bad question, with status 1.  `names` maps keys of the question to
        the user's words, with which complaints begin.
        """
        try:
            answer = subprocess.run(
                [self.program(name)],
                input=json.dumps(question),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                **TEXT,
                check=False,
            )
        except OSError as error:
            raise CliError(
                f"cannot run {self.program(name)}: {error.strerror}; is huddle built without it?"
            ) from error
        if answer.returncode not in (0, 1) or not answer.stdout:
            line = (
                answer.stderr.strip().removeprefix(f"huddle: {name}: ")
                or f"'{name}' ended with status {answer.returncode}"
            )
            key, colon, rest = line.partition(":")
            raise CliError(
                (names or {}).get(key, key) + colon + rest,
                BAD_USE if answer.returncode == BAD_USE else FAILED,
            )
        return json.loads(answer.stdout)

    def tuning_error(self, path: str) -> Any:
        """Returns the library's complaint about a tuning file, or None."""
        return self.ask("explain", "barrier", "0", "2", "core", HUDDLE_TUNING=path)["error"]

    def ask(self, *words: str, stdin: str | None = None, **environment: Any) -> Any:
        """
        Returns the JSON of `query`, with these variables set, or unset if they are None.  Passes on
        the messages (a bad setting) of `query` on standard error.  stdin: the text of its standard
        input, or None for the standard input of this process.
        """
        answer, said = self.hear(*words, stdin=stdin, **environment)
        sys.stderr.write(said)
        return answer

    def hear(self, *words: str, stdin: str | None = None, **environment: Any) -> tuple[Any, str]:
        """Returns the JSON of `query` as ask() does, and its standard error."""
        query = os.path.join(self.tools, "query")
        variables = {**os.environ, **environment}
        try:
            answer = subprocess.run(
                [query, *words],
                input=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                **TEXT,
                env={name: value for name, value in variables.items() if value is not None},
                check=False,
            )
        except OSError as error:
            raise CliError(f"cannot run {query}: {error.strerror}") from error
        if answer.returncode != 0:
            raise CliError(
                answer.stderr.strip().removeprefix("huddle: ")
                or f"'query {' '.join(words)}' failed with status {answer.returncode}",
                BAD_USE if answer.returncode == BAD_USE else FAILED,
            )
        return json.loads(answer.stdout), answer.stderr
