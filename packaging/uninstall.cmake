# SPDX-License-Identifier: BSD-3-Clause
# cmake -P PREFIX/share/huddle/uninstall.cmake - removes the installation that this file is part of:
# the files that were installed, as installed-files next to it lists them, what Python has compiled
# of them, and folders of huddle's that are empty then.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/installed-files files)
list(POP_FRONT files prefix) # the first line: the prefix, as seen from here
get_filename_component(prefix ${CMAKE_CURRENT_LIST_DIR}/${prefix} ABSOLUTE)
set(folders)
foreach(path ${files})
    set(path ${prefix}/${path})
    get_filename_component(folder ${path} DIRECTORY)
    list(APPEND folders ${folder})
    if(path MATCHES "\\.py$")
        get_filename_component(name ${path} NAME_WE)
        file(GLOB compiled ${folder}/__pycache__/${name}.*.pyc)
        file(REMOVE ${path} ${compiled})
        list(APPEND folders ${folder}/__pycache__)
    endif()
    file(REMOVE ${path})
endforeach()
list(REMOVE_DUPLICATES folders)
set(own) # those folders, and the ones above them, up to the one that is named after huddle
foreach(folder ${folders})
    while(folder MATCHES "^${prefix}/.*huddle")
        list(APPEND own ${folder})
        get_filename_component(folder ${folder} DIRECTORY)
    endwhile()
endforeach()
list(REMOVE_DUPLICATES own)
list(SORT own ORDER DESCENDING) # inner ones first
foreach(folder ${own})
    file(GLOB inside ${folder}/*)
    if(IS_DIRECTORY ${folder} AND NOT inside)
        file(REMOVE_RECURSE ${folder})
    endif()
endforeach()
list(LENGTH files count)
message(STATUS "removed ${count} files from ${prefix}")
