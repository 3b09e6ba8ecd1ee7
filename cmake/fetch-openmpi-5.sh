#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fetch-openmpi-5.sh DIR [ARCHITECTURE] - Open MPI 5.0's internal headers, from Debian 13's
# packages, unpacked under DIR (nothing is installed).
#
# For a Debian whose own Open MPI is another series.  Configured into <build>/ompi-5.0, CMake finds
# them there by itself. ARCHITECTURE, in Debian's spelling, is another machine's, for cross
# compiling. Succeeds at once if DIR is complete already.  Otherwise one line says why not, and the
# exit status is 1: the 5.0 component is not built.
set -eu

release=trixie
packages="libopenmpi-dev libopenmpi40 libpmix-dev"

fail() {
    echo "fetch-openmpi-5: $1; the component for Open MPI 5.0 will not be built" >&2
    exit 1
}

[ $# -eq 1 ] || [ $# -eq 2 ] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1" 2>/dev/null || fail "cannot write $1"
dir=$(cd "$1" && pwd)
[ ! -e "$dir/complete" ] || exit 0

. "$(dirname "$0")/private-apt.sh"
apt=$dir/apt
native=$(dpkg --print-architecture 2>/dev/null || true)
private_apt "$apt" $release ${2:+$native,$2}
unpack_packages "$apt" "$dir" $(for name in $packages; do echo "$name${2:+:$2}"; done)
rm -rf "$apt"
touch "$dir/complete"
