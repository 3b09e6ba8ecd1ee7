# SPDX-License-Identifier: BSD-3-Clause
"""Checks that every test has a time limit, in any configuration.  ctest_lint.py CTEST BUILD"""

import json
import subprocess
import sys

CONFIGURATIONS = ("ci", "full")


def without_limit(listed):
    """
    Yields the names of tests without a time limit in the output of `ctest --show-only=json-v1`.
    """
    for test in listed["tests"]:
        limits = [p["value"] for p in test.get("properties", ()) if p["name"] == "TIMEOUT"]
        if not limits or float(limits[0]) <= 0:
            yield test["name"]


def main(ctest, build):
    found = set()
    for configuration in CONFIGURATIONS:
        output = subprocess.run(
            [ctest, "--test-dir", build, "-C", configuration, "--show-only=json-v1"],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        found.update(without_limit(json.loads(output)))
    for name in sorted(found):
        print(f"{name}: no TIMEOUT (set_tests_properties)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
