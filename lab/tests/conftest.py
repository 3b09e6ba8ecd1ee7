# SPDX-License-Identifier: BSD-3-Clause
"""What pytest does before the laboratory's tests in Python."""

from own_cache import own_cache  # noqa: F401  (a fixture)
