# SPDX-License-Identifier: BSD-3-Clause
# laboratory.sh - for debian-inside.sh and rpm.sh: which files only the laboratory's package may
# have.

of_the_laboratory() { # prints those of the paths on standard input
    local names='lab|evidence|machines|model|simulate|bench-fit|bench-machine'
    grep -E "/($names)(/|\$)" || true
}
