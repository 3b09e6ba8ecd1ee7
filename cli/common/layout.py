# SPDX-License-Identifier: BSD-3-Clause
"""
Where the parts of huddle lie, in the build tree as in an installation, and how the library is
asked.
"""

import json
import os
import subprocess
import sys

TEXT = {"encoding": "utf-8", "errors": "replace"}  # of what our programs print, in any locale


class Trouble(Exception):
    """One line for the user; main() prints it and exits with the status."""

    def __init__(self, line, status=1):
        super().__init__(line)
        self.status = status


class Layout:
    """Directories, relative to the prefix as in CMake (absolute ones are not changed)."""

    def __init__(self, prefix, libs, plugins, tools, share, sysconf, programs="bin"):
        self.prefix = prefix
        self.bin = os.path.join(prefix, programs)
        self.libs = os.path.join(prefix, libs)
        self.plugins = os.path.join(prefix, plugins)
        self.tools = os.path.join(prefix, tools)
        self.machines = os.path.join(prefix, share, "machines")
        self.evidence = os.path.join(prefix, share, "evidence")
        self.sysconf = os.path.join(prefix, sysconf)

    @property
    def launcher(self):
        return os.path.join(self.bin, "huddle")

    def front_ends(self):
        """{"openmpi-4.1": path, ..., "mpich": path}: the front ends that are installed here."""
        found = {}
        for name in sorted(os.listdir(self.plugins)) if os.path.isdir(self.plugins) else []:
            path = os.path.join(self.plugins, name)
            component = os.path.join(path, "mca_coll_huddle.so")
            if os.path.isfile(component):
                found[name] = component
            elif name == "libhuddle-mpich.so":
                found["mpich"] = path
        return found

    def program(self, name):
        return os.path.join(self.tools, name)

    def question(self, name, question, said_as=None):
        """
        What a program of ours answers: a JSON object goes in, one comes out.  Status 1 with an
        answer: it says itself what is wrong.  said_as: key of the question -> how the user has said
        it; a complaint begins with the key.
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
            raise Trouble(
                f"cannot run {self.program(name)}: {error.strerror}; is huddle built without it?"
            ) from error
        if answer.returncode not in (0, 1) or not answer.stdout:
            line = (
                answer.stderr.strip().removeprefix(f"huddle: {name}: ")
                or f"'{name}' ended with status {answer.returncode}"
            )
            key, colon, rest = line.partition(":")
            raise Trouble(
                (said_as or {}).get(key, key) + colon + rest, 2 if answer.returncode == 2 else 1
            )
        return json.loads(answer.stdout)

    def tuning_error(self, path):
        """What the library says of a tuning file that it does not accept; None: it accepts it."""
        return self.ask("explain", "barrier", "0", "2", "core", HUDDLE_TUNING=path)["error"]

    def ask(self, *words, **environment):
        """
        The probe's JSON, with these variables set, or unset where they are None.  What it says on
        standard error (a bad setting) is passed on.
        """
        answer, said = self.hear(*words, **environment)
        sys.stderr.write(said)
        return answer

    def hear(self, *words, **environment):
        """The same: the JSON, and what the probe says on standard error."""
        probe = os.path.join(self.tools, "probe")
        variables = {**os.environ, **environment}
        try:
            answer = subprocess.run(
                [probe, *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                **TEXT,
                env={name: value for name, value in variables.items() if value is not None},
                check=False,
            )
        except OSError as error:
            raise Trouble(f"cannot run {probe}: {error.strerror}") from error
        if answer.returncode != 0:
            raise Trouble(
                answer.stderr.strip().removeprefix("huddle: ")
                or f"'probe {' '.join(words)}' failed with status {answer.returncode}",
                2 if answer.returncode == 2 else 1,
            )
        return json.loads(answer.stdout), answer.stderr
