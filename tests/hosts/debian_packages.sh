#!/usr/bin/env bash
# Builds the Debian packages from this tree and checks them with lintian. Then installs them in a new Debian,
# uses them there and removes them, which must leave no files. Needs a network, root, debootstrap and 3 GB of
# disk. DEBIAN_MIRROR replaces Debian's own mirror.
# Exit code: 0 passed, 77 cannot run here, otherwise failed.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)

skip() {
    echo "skipped: $1"
    exit 77
}

fail() {
    echo "$*" >&2
    exit 1
}

[ "$(id -u)" = 0 ] || skip "chroot needs root"
for program in debootstrap dpkg-shlibdeps lintian; do
    command -v "$program" >/dev/null || skip "$program is not installed"
done
# The packages depend on the libraries that they were built with.
# shellcheck source=/dev/null
. /etc/os-release
[ "$ID" = debian ] || skip "Debian packages must be built on Debian, and this is $ID"

work=$(mktemp -d)
root=$work/root
clean_up() {
    umount "$root/proc" 2>/dev/null || true
    if mountpoint -q "$root/proc"; then
        echo "not removed, still mounted: $root" >&2 # removing it would delete this machine's files
    else
        rm -rf --one-file-system "$work"
    fi
}
trap clean_up EXIT

echo "---- packages"
cmake -S "$here" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DLUMEQ_CUDA=OFF -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF \
    -DCMAKE_INSTALL_PREFIX=/usr -DLUMEQ_PACKAGER="the tests <tests@example.org>" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
cmake --build "$work/build" --parallel "$(nproc)" >"$work/log" 2>&1 || fail "$(tail -n 30 "$work/log")"
(cd "$work/build" && umask 077 && cpack -B "$work/packages") >"$work/log" 2>&1 || fail "$(cat "$work/log")"
packages=("$work"/packages/*.deb)
[ "${#packages[@]}" = 3 ] || fail "there are ${#packages[@]} packages, not 3"
lintian --allow-root --fail-on error "${packages[@]}"

echo "---- a fresh Debian"
debootstrap --variant=minbase "$VERSION_CODENAME" "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$work/log" 2>&1 || {
    tail -n 3 "$work/log"
    skip "Debian could not be downloaded"
}
mount -t proc proc "$root/proc" || skip "mounting is not permitted here"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
mkdir "$root/packages"
cp "${packages[@]}" "$here/tests/install/installed.c" "$here/samples/lumeq-sample.mkv" "$root/packages"

inside() {
    chroot "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive bash -euc "cd /packages && $*" </dev/null
}

# Lists all files except logs, caches and dpkg's records.
list() {
    find "$root" -xdev \( -path "$root/proc" -o -path "$root/var/lib/dpkg" -o -path "$root/var/log" \
        -o -path "$root/var/cache" -o -path "$root/tmp" \) -prune -o -printf '%P %y %m\n' | sort
}

# Install the dependencies first, so that all files that remain come from lumeq's packages.
needs=
for package in "${packages[@]}"; do
    needs+=,$(dpkg-deb -f "$package" Depends | tr ',' '\n' | sed '/^ *liblumeq/d' | paste -sd ,)
done
inside "apt-get update -qq && apt-get satisfy -qq -y --no-install-recommends '$(sed 's/^,*//; s/,,*/,/g; s/,$//' <<<"$needs")'" \
    >"$work/log" 2>&1 || fail "$(tail -n 5 "$work/log")"
inside "apt-get install -qq -y --no-install-recommends gcc libc6-dev pkg-config" >"$work/log" 2>&1 ||
    fail "$(tail -n 5 "$work/log")"
list >"$work/before"

echo "---- installed, used"
inside "dpkg -i ./*.deb" >"$work/log" 2>&1 || fail "$(tail -n 5 "$work/log")"
inside "lumeq --version | grep -q 'CPU only' && lumeq-bench --help >/dev/null"
inside "lumeq lumeq-sample.mkv --frames 5 -o /tmp/out.mkv && rm /tmp/out.mkv"
inside "gcc installed.c -o /tmp/embed \$(pkg-config --cflags --libs lumeq) && ldd /tmp/embed | grep -q liblumeq && /tmp/embed"

echo "---- removed"
inside "dpkg --purge lumeq liblumeq-dev $(dpkg-deb -f "$work"/packages/liblumeq[0-9]*.deb Package)" >"$work/log" 2>&1 ||
    fail "$(tail -n 5 "$work/log")"
list >"$work/after"
diff "$work/before" "$work/after" || fail "files of lumeq remain"
grep -q liblumeq <(inside "ldconfig -p") && fail "the loader's cache still lists liblumeq"
echo "no files remain"
