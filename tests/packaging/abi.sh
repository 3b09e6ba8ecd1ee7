#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# abi.sh [--record] BUILD - what programs see of libhuddle is compatible with what libhuddle.abi has
# of it (libabigail's abidiff).
#
# BUILD: a folder for a library with debug information. --record: writes that file anew, for a
# change that programs must be compiled again for: raise SOVERSION then. Exit status 77, with a
# line: abidiff is not installed.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
record=
[ "${1-}" != --record ] || { record=1 && shift; }
[ $# = 1 ] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
command -v abidiff >/dev/null || { echo "abi: abidiff is not installed" >&2; exit 77; }
mkdir -p "$1"
build=$(cd "$1" && pwd)
abi=$here/tests/packaging/libhuddle.abi

# abidw knows public headers by their names alone.
for header in "$here"/include/huddle/*.h; do
    twin=$(find "$here/src" -path "$here/src/host" -prune -o -path "$here/src/check" -prune -o \
        -name "${header##*/}" -print)
    [ -z "$twin" ] || { echo "abi: $twin has the name of a public header" >&2; exit 1; }
done
cmake -S "$here" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-g \
    -DHUD_TESTS=OFF -DHUD_SIMULATOR=OFF >"$build/log" 2>&1 &&
    cmake --build "$build" --target huddle >>"$build/log" 2>&1 \
        || { tail -n 40 "$build/log" >&2; exit 1; }
library=$(ls "$build"/lib*/libhuddle.so)
# (a compiler cache may make paths relative)
abidw --exported-interfaces-only --headers-dir "$here/include" --drop-private-types \
    --drop-undefined-syms --no-corpus-path \
    --no-comp-dir-path --no-show-locs --no-elf-needed --type-id-style hash "$library" \
    | sed "s|path='[^']*/src/|path='src/|" >"$build/abi"
if [ -n "$record" ]; then
    cp "$build/abi" "$abi"
    exit
fi
# Two descriptions: with the library itself, abidiff takes changed structures for private ones, and
# does not report them.
abidiff "$abi" "$build/abi"
