#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpicc.sh openmpi|mpich ARGUMENTS... - that MPI's compiler wrapper for aarch64, which the MPI's own
# of this machine is not.
#
# Compiler and libraries are those that fetch.sh has unpacked into HUD_AARCH64 (in the environment).
set -eu
libraries=$HUD_AARCH64/sysroot/usr/lib/aarch64-linux-gnu
case $1 in
openmpi) library=libmpi.so.40 ;;
mpich) library=libmpich.so.12 ;;
*) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
include=$libraries/$1/include
shift
exec "$HUD_AARCH64/tools/usr/bin/aarch64-linux-gnu-gcc-12" --sysroot="$HUD_AARCH64/sysroot" \
    -I"$include" "$@" "$libraries/$library" -Wl,--allow-shlib-undefined
