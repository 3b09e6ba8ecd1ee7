# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the laboratory: huddle lab COMMAND."""
