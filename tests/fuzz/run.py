# SPDX-License-Identifier: BSD-3-Clause
"""
run.py PROGRAM SECONDS FOLDER: fuzzes the program fuzz_NAME for this long, from FOLDER/corpus/NAME.
The dictionary is FOLDER/NAME.dict and the output of the program fuzz_words.  An input with an
error is kept next to the program, and the last lines print the command that runs it again.  Such an
input is a defect of huddle or of the program.
"""

import os
import subprocess
import sys
import tempfile

# An input that takes more time or memory than this is a defect as well.  The limits allow for
# sanitizers on a busy machine.
LIMITS = ("-timeout=30", "-rss_limit_mb=2048", "-malloc_limit_mb=256", "-max_len=4096")


def dictionary(program, fixed, folder):
    """Makes the dictionary in this folder, if the program has one, and returns its option."""
    if not os.path.exists(fixed):
        return []
    name = os.path.basename(fixed).removesuffix(".dict")
    more = subprocess.run(
        [os.path.join(os.path.dirname(program), "fuzz_words"), name],
        stdout=subprocess.PIPE,
        check=True,
    )
    made = os.path.join(folder, f"{name}.dict")
    with open(made, "wb") as file, open(fixed, "rb") as own:
        lines = sorted(set(more.stdout.splitlines(True)))
        assert lines, f"fuzz_words adds nothing to {fixed}"
        file.write(own.read() + b"".join(lines))
    return [f"-dict={made}"]


def main():
    program, seconds, here = sys.argv[1:]
    name = os.path.basename(program).removeprefix("fuzz_")
    corpus = os.path.join(here, "corpus", name)
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
        command += dictionary(program, os.path.join(here, f"{name}.dict"), folder)
        done = subprocess.run(
            [*command, grown, corpus], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
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
        f" {corpus}, under a name that says what it is."
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
