# SPDX-License-Identifier: BSD-3-Clause
"""What pytest does before tests in Python."""

import signal

# A shell lets what it runs in the background ignore SIGINT, and so would the commands that tests
# start.
signal.signal(signal.SIGINT, signal.default_int_handler)
