# SPDX-License-Identifier: BSD-3-Clause
"""What pytest does before tests in Python."""

import signal

from own_cache import own_cache  # noqa: F401  (a fixture)

# A shell lets what it runs in the background ignore SIGINT, and so would the commands that tests
# start.
signal.signal(signal.SIGINT, signal.default_int_handler)
