#!/usr/bin/env bash
# Takes the README's first steps in a new minimal Debian 12: builds the committed tree, then installs, uses and
# tests it. Needs root, a network and 4 GB of disk. DEBIAN_MIRROR replaces Debian's own mirror.
# Exit code: 0 passed, 77 cannot run here, otherwise failed.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)

skip() {
    echo "skipped: $1"
    exit 77
}

[ "$(id -u)" = 0 ] || skip "chroot needs root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
git -C "$here" rev-parse HEAD >/dev/null 2>&1 || skip "this is not a git checkout, or git is not installed"

root=$(mktemp -d)
clean_up() {
    umount -R "$root/dev" "$root/proc" 2>/dev/null || true
    if mountpoint -q "$root/dev" || mountpoint -q "$root/proc"; then
        echo "not removed, still mounted: $root" >&2 # removing it would delete this machine's files
    else
        rm -rf --one-file-system "$root"
    fi
}
trap clean_up EXIT

debootstrap --variant=minbase bookworm "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$root.log" 2>&1 || {
    tail -n 3 "$root.log"
    rm -f "$root.log"
    skip "Debian 12 could not be downloaded"
}
rm -f "$root.log"
if ! mount -t proc proc "$root/proc" || ! mount --rbind /dev "$root/dev" || ! mount --make-rslave "$root/dev"; then
    skip "mounting is not permitted here"
fi
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
git clone -q --no-local "$here" "$root/lumeq"

inside() {
    echo "---- $* (bare Debian 12)"
    chroot "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive bash -c "cd /lumeq && $*" </dev/null
}

inside samples/demo.sh
inside cmake --install build
inside 'lumeq --version && lumeq-bench --help >/dev/null && test -s /usr/local/share/man/man1/lumeq.1'
# shellcheck disable=SC2016 # expanded in the chroot
inside 'cc samples/embed.c -o /tmp/embed $(pkg-config --cflags --libs lumeq) && head -c 460800 /dev/zero |
    /tmp/embed 640 480 >/tmp/embedded.yuv && test "$(stat -c %s /tmp/embedded.yuv)" = 460800'
inside tests/run.sh
