#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# build.sh [--aarch64] FOLDER - the wheel huddle_mpi-*-manylinux_*.whl, for x86-64 or,
# cross-compiled, for aarch64, into FOLDER.
#
# The wheel has the CLI, the loader and the front ends for Open MPI 4.1, 5.0 and the MPICH ABI.
# auditwheel puts hwloc, jansson and udev into lib/huddle/bundled, under names of their own, and
# finds the oldest C library that will do.  No MPI goes in.  Below FOLDER there are the build
# (build-*) and the tools' Python environment.
set -eu
cd "$(dirname "$0")/../.."
. .ci/prepare.sh

machine=$(uname -m)
[ "${1-}" != --aarch64 ] || { machine=aarch64 && shift; }
[ $# = 1 ] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
need_packages $HUD_PACKAGES binutils go-md2man
need_venv "$out/tools" "$HUD_WHEEL_TOOLS"
PATH=$out/tools/bin:$PATH

build=$out/build-$machine libraries=/usr/lib/$machine-linux-gnu
options=(-Cbuild-dir="$build")
if [ "$machine" = "$(uname -m)" ]; then
    need_openmpi_5 "$build/ompi-5.0"
else # tests/aarch64 has what it takes
    sh tests/aarch64/fetch.sh "$out/packages-$machine"
    need_openmpi_5 "$build/ompi-5.0" arm64
    export HUD_AARCH64=$out/packages-$machine
    libraries=$HUD_AARCH64/sysroot$libraries
    # Libraries of the assembler and the linker.
    export LD_LIBRARY_PATH=$HUD_AARCH64/tools/usr/lib/x86_64-linux-gnu
    mkdir -p "$out/strip-$machine" # auditwheel calls strip
    ln -sf "$HUD_AARCH64/tools/usr/bin/$machine-linux-gnu-strip" "$out/strip-$machine/strip"
    PATH=$out/strip-$machine:$PATH
    export _PYTHON_HOST_PLATFORM=linux-$machine AUDITWHEEL_LD_LIBRARY_PATH=$libraries
    options+=(-Ccmake.define.CMAKE_TOOLCHAIN_FILE="$PWD/tests/aarch64/toolchain.cmake"
        -Ccmake.define.HUD_OPENMPI_4_1_INCLUDE="$libraries/openmpi/include"
        -Ccmake.define.HUD_MPICH_COMPILER=none
        -Ccmake.define.HUD_MPICH_INCLUDE="$libraries/mpich/include")
fi

say "building $build"
rm -rf "$out/plain"
quietly python -m build --wheel --no-isolation -o "$out/plain" "${options[@]}" .
# All front ends have been built.
ls "$build"/lib/huddle/openmpi-{4.1,5.0}/mca_coll_huddle.so "$build"/lib/huddle/libhuddle-mpich.so \
    >/dev/null

# What is bundled lies where it will lie below the environment, so that paths relative to it stay
# right.
version=$(sed -n 's/^project(huddle VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
mpis=
for library in libmpi.so.40 libopen-pal.so.40 libopen-pal.so.80 libopen-rte.so.40 libmpich.so.12; do
    mpis="$mpis --exclude $library"
done
quietly auditwheel repair "$out"/plain/*.whl --only-plat --strip $mpis \
    --lib-sdir="-$version.data/data/lib/huddle/bundled" -w "$out"
rm -r "$out/plain"
unset LD_LIBRARY_PATH
wheel=$(ls -t "$out"/huddle_mpi-"$version"-py3-none-manylinux_*_"$machine".whl | head -n 1)
quietly twine check --strict "$wheel"
echo "$wheel"
