#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# as_node.sh [OPTIONS OF SSH] HOST COMMAND... - what an MPI calls instead of ssh: runs the command
# here, under another host name.
while [[ $1 == -* ]]; do shift; done
host=$1
shift
exec unshare --uts bash -c 'hostname "$0"; eval "$@"' "$host" "$@"
