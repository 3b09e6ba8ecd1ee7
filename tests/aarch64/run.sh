#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh DIR - huddle for aarch64, in an emulator: builds all of it into DIR and runs there the unit
# and property tests, the checker, teams of forked processes and of threads, and the programs that
# compare every result, on two ranks, under Open MPI and MPICH.
#
# The launchers are this machine's own, where they are installed.  Exit status 77, with a line:
# compiler, emulator or libraries cannot be had. The emulator orders memory as its host does: what a
# weaker order breaks the checker finds, not this.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)
sh "$here/fetch.sh" "$build/packages" || exit 77

export HUD_AARCH64="$build/packages"
# Libraries of the assembler and the linker.
export LD_LIBRARY_PATH="$HUD_AARCH64/tools/usr/lib/x86_64-linux-gnu"
libraries=$HUD_AARCH64/sysroot/usr/lib/aarch64-linux-gnu
emulate="$HUD_AARCH64/tools/usr/bin/qemu-aarch64-static -L $HUD_AARCH64/sysroot"

cmake -S "$here/../.." -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" \
    -DCMAKE_BUILD_TYPE=Release -DHUD_WERROR=ON \
    -DHUD_TEST_ONLY=unit,property,sim -DHUD_SIMULATOR=OFF \
    -DHUD_OPENMPI_4_1_INCLUDE="$libraries/openmpi/include" \
    -DHUD_MPICH_COMPILER=none -DHUD_MPICH_INCLUDE="$libraries/mpich/include" \
    >"$build/configured" 2>&1 || { cat "$build/configured"; exit 1; }
cmake --build "$build"
# Both front ends have been built.
ls "$build"/lib/huddle/openmpi-4.1/mca_coll_huddle.so "$build"/lib/huddle/libhuddle-mpich.so
# (check_waits reads lines that tell tenths of a second; the emulator knows
# neither a limit of the address space, nor huge pages, nor that descriptors of a message that is
# cut short are closed)
(cd "$build" && ctest -j "$(nproc)" --output-on-failure --no-tests=error \
    -E '^(check_waits|arena|huge|handover|arrivals)$')

for program in differential reductions exchanges; do
    for mpi in openmpi mpich; do
        "$here/mpicc.sh" $mpi -std=gnu11 -O1 -pthread "$here/../mpi/$program.c" \
            -o "$build/$program-$mpi"
    done
done
unset LD_LIBRARY_PATH

export XDG_CACHE_HOME="$build/cache" # not the user's wisdom
# The emulator knows no process_vm_readv, which Open MPI would use.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_pml=ob1
for launcher in mpirun.openmpi mpiexec.mpich; do
    command -v $launcher >/dev/null || { echo "aarch64: no $launcher here"; continue; }
    for program in differential reductions exchanges; do
        stats=$build/$program-${launcher#*.}.json
        rm -f "$stats"
        timeout 300 $launcher -n 2 $emulate -E LD_PRELOAD="$build/lib/huddle/libhuddle-loader.so" \
            -E HUDDLE_STATS="json:$stats" "$build/$program-${launcher#*.}" --brief
        grep -q '"handled": [1-9]' "$stats" # calls were handled
    done
done
