#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# as_own_node.sh - as_node.sh, and the node has a /dev/shm, System V IPC and processes of its own.
while [[ $1 == -* ]]; do shift; done
host=$1
shift
exec unshare --uts --ipc --mount --pid --fork --mount-proc bash -c \
    'mount -t tmpfs -o size=2g tmpfs /dev/shm; hostname "$0"; eval "$@"' "$host" "$@"
