# SPDX-License-Identifier: BSD-3-Clause
# bare.sh - for debian.sh and elsewhere.sh: a bare system in a folder, and a script that runs there.

debian_mirror() { # apt's
    apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' | sed -n 's/ Debian Debian$//p' | head -n 1
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
