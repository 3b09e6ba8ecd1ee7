#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# install.sh SOURCE PREFIX - what the images do on a bare Debian, as root: packages, a build outside
# SOURCE, an installation into PREFIX.
set -eu
[ $# = 2 ] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }

apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends cmake ninja-build \
    gcc g++ libc6-dev pkg-config \
    libhwloc-dev libjansson-dev libboost-context-dev libopenmpi-dev openmpi-bin libmpich-dev mpich \
    python3 python3-click python3-click-man go-md2man
build=$(mktemp -d)
cmake -S "$1" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHUD_TESTS=OFF \
    -DCMAKE_INSTALL_PREFIX="$2"
cmake --build "$build"
cmake --install "$build"
rm -r "$build"
