# SPDX-License-Identifier: BSD-3-Clause
"""
Copies the output of ctest, and lists the slowest tests before its summary, which remains at the
end.

    ctest ... | slowest.py
"""

import re
import sys

COUNT = 10
RESULT = re.compile(r"^ *\d+/\d+ Test +#\d+: (\S+) .*?([\d.]+) sec")
SUMMARY = re.compile(r"^\d+% tests passed")


def main(lines, out):
    times = {}
    for line in lines:
        if result := RESULT.match(line):
            times[result[1]] = float(result[2])
        elif SUMMARY.match(line) and times:
            out.write("The slowest tests:\n")
            for name in sorted(times, key=times.get, reverse=True)[:COUNT]:
                out.write(f"{times[name]:8.2f} s  {name}\n")
            out.write("\n")
        out.write(line)
        out.flush()


if __name__ == "__main__":
    sys.stdin.reconfigure(errors="replace")
    sys.stdout.reconfigure(errors="replace")
    main(sys.stdin, sys.stdout)
