# SPDX-License-Identifier: BSD-3-Clause
# CMake's toolchain file of the build for aarch64: compiler, emulator and libraries as fetch.sh has
# unpacked them into HUD_AARCH64 (in the environment).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(root $ENV{HUD_AARCH64})
set(CMAKE_SYSROOT ${root}/sysroot)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER ${root}/tools/usr/bin/aarch64-linux-gnu-gcc-12)
set(CMAKE_CXX_COMPILER ${root}/tools/usr/bin/aarch64-linux-gnu-g++-12)
set(HUD_MPICC_openmpi ${CMAKE_CURRENT_LIST_DIR}/mpicc.sh openmpi CACHE STRING "")
set(HUD_MPICC_mpich ${CMAKE_CURRENT_LIST_DIR}/mpicc.sh mpich CACHE STRING "")
set(CMAKE_CROSSCOMPILING_EMULATOR ${root}/tools/usr/bin/qemu-aarch64-static -L ${root}/sysroot)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root}/sysroot)
set(ENV{PKG_CONFIG_LIBDIR}
    ${root}/sysroot/usr/lib/aarch64-linux-gnu/pkgconfig:${root}/sysroot/usr/share/pkgconfig)
