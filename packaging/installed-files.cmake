# SPDX-License-Identifier: BSD-3-Clause
# The last step of an installation: the list of its files, for uninstall.cmake.
set(list_file "@HUD_SHARE_DIR@/installed-files")
set(lines "@from_share_to_prefix@\n")
foreach(path ${CMAKE_INSTALL_MANIFEST_FILES} ${CMAKE_INSTALL_PREFIX}/${list_file})
    file(RELATIVE_PATH path "${CMAKE_INSTALL_PREFIX}" "${path}")
    string(APPEND lines "${path}\n")
endforeach()
file(WRITE "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${list_file}" "${lines}")
