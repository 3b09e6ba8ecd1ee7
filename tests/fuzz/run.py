# SPDX-License-Identifier: BSD-3-Clause
"""
run.py PROGRAM SECONDS: fuzzes a program of tests/fuzz from its corpus for this long.  The
dictionary is NAME.dict and the output of the program fuzz_words.  An input with an error is kept
next to the program, and the last lines print the command that runs it again.  Such an input is a
defect of huddle or of the program.
"""

import os
import subprocess
import sys
import tempfile

# An input that takes more time or memory than this is a defect as well.  The limits allow for
# sanitizers on a busy machine.
LIMITS = ("-timeout=30", "-rss_limit_mb=2048", "-malloc_limit_mb=256", "-max_len=4096")


def dictionary(program, name, folder):
    """Makes the dictionary in this folder, if the program has one, and returns its option."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.dict")
    if not os.path.exists(here):
        return []
    more = subprocess.run(
        [os.path.join(os.path.dirname(program), "fuzz_words"), name],
        stdout=subprocess.PIPE,
        check=True,
    )
    made = os.path.join(folder, f"{name}.dict")
    with open(made, "wb") as file, open(here, "rb") as fixed:
        lines = sorted(set(more.stdout.splitlines(True)))
        assert lines, f"fuzz_words adds nothing to {here}"
        file.write(fixed.read() + b"".join(lines))
    return [f"-dict={made}"]


def main():
    program, seconds = sys.argv[1:]
    here, name = (
        os.path.dirname(os.path.abspath(__file__)),
        os.path.basename(program).removeprefix("fuzz_"),
    )
    found = os.path.join(os.path.dirname(program), f"found_{name}")
    os.makedirs(found, exist_ok=True)
    with tempfile.TemporaryDirectory() as grown, tempfile.TemporaryDirectory() as folder:
        command = [
            program,
            f"-max_total_time={seconds}",
            f"-artifact_prefix={found}/",
            *LIMITS,
            "-print_final_stats=1",
        ]
        command += dictionary(program, name, folder)
        done = subprocess.run(
            [*command, grown, os.path.join(here, "corpus", name)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    lines = done.stdout.decode(errors="replace").splitlines()
    if done.returncode == 0:
        print("\n".join(line for line in lines if line.startswith("stat::") or "DONE" in line))
        return 0
    print("\n".join(lines[-80:]))
    inputs = sorted((os.path.join(found, file) for file in os.listdir(found)), key=os.path.getmtime)
    print(
        f"fuzz.{name}: found an input that huddle does not stand.  Again: {program}"
        f" {inputs[-1] if inputs else '(none was kept)'}"
    )
    print(
        f"Shorter: {program} -minimize_crash=1 -runs=100000 FILE.  With its cure it belongs in"
        f" tests/fuzz/corpus/{name}, under a name that says what it is."
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
