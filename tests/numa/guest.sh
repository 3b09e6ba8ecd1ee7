#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# guest.sh [--setup | COMMAND...] - runs a command in an emulated machine with several NUMA nodes,
# which sees this one's files.
#
# --setup, once, fetches a kernel and makes the guest's first file system; it needs qemu-system-x86,
# busybox-static, cpio and xz-utils. COMMAND runs in the current directory, which is shared with the
# guest and can be written there; the exit status is its own. Variables: HUD_GUEST_NODES (4) of
# HUD_GUEST_CPUS (2) processors each on two sockets, HUD_GUEST_GIB (2) of memory, HUD_GUEST_SECONDS
# (300) at most. The guest's root is this machine's, under an overlay; /tmp, /run and /dev/shm are
# fresh. It is software emulation: for placement and correctness, not for times.
set -eu
home=${HUD_GUEST_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/huddle-guest}
nodes=${HUD_GUEST_NODES:-4} cpus=${HUD_GUEST_CPUS:-2} gib=${HUD_GUEST_GIB:-2}
limit=${HUD_GUEST_SECONDS:-300}
# Modules of the kernel with which the guest sees this machine's files.
modules="virtio_pci 9pnet_virtio 9p overlay"

fetch_kernel() {
    local name
    mkdir -p "$home/deb"
    cd "$home/deb"
    name=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image-/ { print $2; exit }')
    ls "$name"_*.deb >/dev/null 2>&1 || apt-get download -qq "$name"
    rm -rf "$home/kernel"
    dpkg -x "$name"_*.deb "$home/kernel"
}

# ordered_modules FOLDER: files of the modules and what they depend on, in the order in which they
# are loaded.
ordered_modules() {
    local module line file seen=" "
    for module in $modules; do
        line=$(awk -F: -v m="/$module.ko" \
            'substr($1, length($1) - length(m) + 1) == m { print $1 " " $2 }' "$1/modules.dep")
        for file in $(tr ' ' '\n' <<<"$line" | tac); do
            case "$seen" in *" $file "*) continue ;; esac
            seen="$seen$file "
            echo "$file"
        done
    done
}

first_program() {
    echo '#!/bin/busybox sh'
    echo 'b=/bin/busybox; $b mount -t proc p /proc; $b mount -t sysfs s /sys'
    echo '$b mount -t devtmpfs d /dev'
    for file in "$@"; do echo "\$b insmod /m/${file##*/}"; done
    cat <<'EOF'
options=trans=virtio,version=9p2000.L,msize=524288
$b mount -t 9p -o $options,ro,cache=loose hostroot /ro
$b mount -t tmpfs t /rw; $b mkdir /rw/u /rw/w
$b mount -t overlay -o lowerdir=/ro,upperdir=/rw/u,workdir=/rw/w ov /whole
for name in proc sys dev; do $b mount --move /$name /whole/$name; done
$b mkdir -p /whole/dev/shm /whole/dev/pts
$b mount -t devpts p /whole/dev/pts
for name in dev/shm tmp run; do $b mount -t tmpfs t /whole/$name; done
$b mkdir -p /whole/mnt/share
$b mount -t 9p -o $options share /whole/mnt/share
$b ip link set lo up; $b hostname guest; echo "127.0.0.1 localhost guest" >/whole/etc/hosts
$b chroot /whole /bin/bash /mnt/share/.guest-command; echo $? >/whole/mnt/share/.guest-status
$b sync; $b poweroff -f
EOF
}

setup() {
    local folder root=$home/first files
    fetch_kernel
    folder=$(echo "$home"/kernel/lib/modules/*)
    busybox depmod -b "$home/kernel" "${folder##*/}"
    files=$(ordered_modules "$folder")
    rm -rf "$root"
    mkdir -p "$root"/{bin,m,proc,sys,dev,whole,ro,rw}
    cp "$(command -v busybox)" "$root/bin/busybox"
    (cd "$folder" && cp $files "$root/m/")
    first_program $files >"$root/init"
    chmod +x "$root/init"
    (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$home/first.gz"
}

# topology: qemu's words for the nodes, their memory and their distances: 12 on a socket, 32 beyond.
topology() {
    local i j half=$(((nodes + 1) / 2))
    for ((i = 0; i < nodes; i++)); do
        echo "-object memory-backend-ram,id=m$i,size=$((gib * 1024 / nodes))M"
        echo "-numa node,nodeid=$i,memdev=m$i,cpus=$((i * cpus))-$((i * cpus + cpus - 1))"
    done
    for ((i = 0; i < nodes; i++)); do
        for ((j = i + 1; j < nodes; j++)); do
            echo "-numa dist,src=$i,dst=$j,val=$((i / half == j / half ? 12 : 32))"
        done
    done
}

[[ $# -gt 0 ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2; }
[[ $1 != --setup ]] || { [[ -e $home/first.gz ]] || setup; exit; }
[[ -e $home/first.gz ]] || { echo "guest.sh: run it with --setup first" >&2; exit 2; }

{
    echo 'export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp'
    echo 'cd /mnt/share'
    printf '%q ' "$@"
} >.guest-command
rm -f .guest-status
trap 'rm -f .guest-command .guest-status' EXIT
shared=security_model=none
timeout "$limit" qemu-system-x86_64 -M q35 -accel tcg,thread=single -m "${gib}G" -cpu max \
    -smp "$((nodes * cpus)),sockets=2,dies=$((nodes / 2)),cores=$cpus,threads=1" $(topology) \
    -nographic -no-reboot -nodefaults -serial stdio -kernel "$home"/kernel/boot/vmlinuz-* \
    -initrd "$home/first.gz" \
    -append "console=ttyS0 quiet panic=-1 numa_balancing=disable" \
    -fsdev "local,id=fr,path=/,$shared,readonly=on,multidevs=remap" \
    -device virtio-9p-pci,fsdev=fr,mount_tag=hostroot \
    -fsdev "local,id=fs,path=$PWD,$shared" -device virtio-9p-pci,fsdev=fs,mount_tag=share </dev/null
exit "$(cat .guest-status 2>/dev/null || echo 125)"
