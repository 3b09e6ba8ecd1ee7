#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# as_node.sh [OPTIONS OF SSH] HOST COMMAND... - what an MPI calls instead of ssh: runs the command
# here, under another host name.  As with ssh, the command does not inherit the environment.  The
# command gets the variables of a login, the folders of an MPI that is not installed, and the test's
# mark and folder.
while [[ $1 == -* ]]; do shift; done
host=$1
shift
login=(PATH="$PATH" HOME="$TMPDIR" USER="$(id -un)" SHELL=/bin/bash LANG=C TMPDIR="$TMPDIR")
for name in LD_LIBRARY_PATH I_MPI_ROOT MPI_TEST_CASE; do
    [[ ! -v $name ]] || login+=("$name=${!name}")
done
exec unshare --uts env -i "${login[@]}" bash -c 'hostname "$0"; eval "$@"' "$host" "$@"
