# SPDX-License-Identifier: BSD-3-Clause
# bare.sh - for debian.sh and elsewhere.sh: a bare system in a folder, and a script that runs there.

debian_mirror() { # apt's
    apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' \
        | sed -n 's/ Debian Debian$//p' | head -n 1
}

# make_bare FOLDER RELEASE MIRROR [MMDEBSTRAP'S WORDS...].  Status 77: the mirror cannot be reached,
# or does not have the release.
make_bare() {
    made_in=$1 made_of=$2 made_from=$3
    shift 3
    /usr/lib/apt/apt-helper download-file "${made_from%/}/dists/$made_of/Release" \
        "$made_in.release" >/dev/null 2>&1 || return 77
    rm -rf "$made_in" "$made_in.release"
    mmdebstrap --quiet --mode=root --variant=minbase "$@" "$made_of" "$made_in" "$made_from"
}

run_bare() { # FOLDER SCRIPT, which is in the folder's srv
    cp /etc/resolv.conf "$1/etc/"
    for folder in proc dev dev/shm; do
        mkdir -p "$1/$folder"
    done
    # (a namespace of its own: nothing stays mounted, and no process stays)
    unshare --mount --pid --ipc --fork sh -eu -c '
        mount --make-rprivate /
        mount -t proc proc "$1/proc"
        mount --rbind /dev "$1/dev"
        mount --rbind /sys "$1/sys"
        mount -t tmpfs tmpfs "$1/dev/shm"
        exec chroot "$1" sh "/srv/$2"' - "$1" "$2"
}
