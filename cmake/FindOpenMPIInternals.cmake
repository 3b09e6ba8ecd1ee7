# SPDX-License-Identifier: BSD-3-Clause
# hud_find_openmpi(SERIES PREFIX): Open MPI's internal headers of a series ("4.1", "5.0") and the
# libraries to link against.
#
# Looked at: HUD_OPENMPI_<4_1|5_0>_INCLUDE (the directory of mpi.h; none: not this series) where it
# is set, and it must serve.  Otherwise what the compiler wrappers of installed Open MPIs say, then
# <build>/ompi-<series>, where cmake/fetch-openmpi-5.sh unpacks packages.  Sets <PREFIX>_INCLUDES
# (empty: not found, or they do not compile) and <PREFIX>_LIBRARIES.
include(CheckCSourceCompiles)

function(_hud_openmpi_series directory out)
    set(${out} "" PARENT_SCOPE)
    if(EXISTS ${directory}/mpi.h AND EXISTS ${directory}/openmpi/ompi/mca/coll/coll.h)
        file(STRINGS ${directory}/mpi.h lines REGEX "^#define OMPI_(MAJOR|MINOR)_VERSION ")
        string(REGEX REPLACE ".*MAJOR_VERSION ([0-9]+).*MINOR_VERSION ([0-9]+).*" "\\1.\\2" series
            "${lines}")
        set(${out} ${series} PARENT_SCOPE)
    endif()
endfunction()

function(_hud_openmpi_candidates series underscored out)
    if(HUD_OPENMPI_${underscored}_INCLUDE)
        set(${out} ${HUD_OPENMPI_${underscored}_INCLUDE} PARENT_SCOPE)
        return()
    endif()
    set(found)
    foreach(wrapper mpicc.openmpi mpicc)
        find_program(HUD_${wrapper} ${wrapper})
        mark_as_advanced(HUD_${wrapper})
        if(HUD_${wrapper})
            execute_process(COMMAND ${HUD_${wrapper}} --showme:incdirs OUTPUT_VARIABLE dirs
                ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
            separate_arguments(dirs UNIX_COMMAND "${dirs}")
            list(APPEND found ${dirs})
        endif()
    endforeach()
    file(GLOB unpacked ${CMAKE_BINARY_DIR}/ompi-${series}/usr/lib/*/openmpi/include
        ${CMAKE_BINARY_DIR}/ompi-${series}/usr/lib64/openmpi/include)
    set(${out} ${found} ${unpacked} PARENT_SCOPE)
endfunction()

function(hud_find_openmpi series prefix)
    string(REPLACE "." "_" underscored ${series})
    set(HUD_OPENMPI_${underscored}_INCLUDE "" CACHE STRING
        "Directory of Open MPI ${series}'s mpi.h and internal headers; none: not this series")
    set(${prefix}_INCLUDES "" PARENT_SCOPE)
    if(HUD_OPENMPI_${underscored}_INCLUDE STREQUAL "none")
        return()
    endif()
    _hud_openmpi_candidates(${series} ${underscored} candidates)
    foreach(directory ${candidates})
        _hud_openmpi_series(${directory} is)
        if(is STREQUAL series)
            set(include ${directory})
            break()
        endif()
    endforeach()
    if(NOT include AND HUD_OPENMPI_${underscored}_INCLUDE)
        message(FATAL_ERROR
            "HUD_OPENMPI_${underscored}_INCLUDE=${HUD_OPENMPI_${underscored}_INCLUDE}: no internal"
            " headers of Open MPI ${series} there (mpi.h, openmpi/ompi/mca/coll/coll.h); Open MPI"
            " installs them where it was configured --with-devel-headers")
    elseif(NOT include)
        return()
    endif()

    set(libraries)
    foreach(name libmpi.so.40 libopen-rte.so.40 libopen-pal.so.40 libopen-pal.so.80)
        foreach(at .. ../lib ../lib64 ../..)
            if(EXISTS ${include}/${at}/${name})
                list(APPEND libraries ${include}/${at}/${name})
                break()
            endif()
        endforeach()
    endforeach()

    # A few headers are missing from the packages; shim/ has them, after the real ones.  PMIx's
    # headers are next to Open MPI's.
    set(includes ${include} ${include}/openmpi ${include}/../../pmix2/include
        ${CMAKE_SOURCE_DIR}/src/host/openmpi/shim)
    set(CMAKE_REQUIRED_INCLUDES ${includes} ${CMAKE_SOURCE_DIR}/src/host/openmpi)
    set(CMAKE_REQUIRED_QUIET ON)
    unset(HUD_OPENMPI_${underscored}_COMPILES CACHE)
    check_c_source_compiles("#include \"compat.h\"\nint main(void) { return 0; }"
        HUD_OPENMPI_${underscored}_COMPILES)
    if(HUD_OPENMPI_${underscored}_COMPILES AND libraries MATCHES "libmpi")
        set(${prefix}_INCLUDES ${includes} PARENT_SCOPE)
        set(${prefix}_LIBRARIES ${libraries} PARENT_SCOPE)
    elseif(HUD_OPENMPI_${underscored}_INCLUDE)
        message(FATAL_ERROR
            "HUD_OPENMPI_${underscored}_INCLUDE=${HUD_OPENMPI_${underscored}_INCLUDE}: its internal"
            " headers do not compile, or there is no libmpi.so.40 next to them")
    endif()
endfunction()
