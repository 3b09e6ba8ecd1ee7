# SPDX-License-Identifier: BSD-3-Clause
"""What huddle doctor finds out about one thing."""

from collections import namedtuple

OK, WARN, FAIL = "ok", "warn", "fail"

# change: what the user or the administrator can do; None: nothing to do.
Finding = namedtuple("Finding", "name state text change", defaults=(None,))
