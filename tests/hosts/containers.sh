#!/usr/bin/env bash
# Builds an image from each container file and the committed tree, and equalizes a video in it. debootstrap makes
# the base images, so no registry is needed. The CUDA image is built if nvcc is installed, for Hopper only, and
# runs without a GPU.
# Needs a network, root, buildah, debootstrap and 6 GB of disk. DEBIAN_MIRROR and UBUNTU_MIRROR replace the
# distributions' own mirrors.
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

[ "$(id -u)" = 0 ] || skip "building images without a daemon needs root"
for program in buildah debootstrap git; do
    command -v "$program" >/dev/null || skip "$program is not installed"
done

work=$(mktemp -d)
store() {
    buildah --storage-driver vfs --root "$work/store" --runroot "$work/run" "$@"
}
clean_up() {
    store rm --all >/dev/null 2>&1 || true
    rm -rf --one-file-system "$work"
}
trap clean_up EXIT
mkdir "$work/tree" "$work/videos"
git -C "$here" archive HEAD | tar -x -C "$work/tree"
cp "$here/samples/lumeq-sample.mkv" "$work/videos"

# Makes the image NAME from a release of a distribution. debootstrap may not know new releases of Ubuntu, but
# they all use the same script.
base() { # NAME RELEASE MIRROR [options of debootstrap]
    local container script=/usr/share/debootstrap/scripts/$2
    [ -e "$script" ] || script=${script%/*}/gutsy
    debootstrap --variant=minbase "${@:4}" "$2" "$work/root" "$3" "$script" >"$work/log" 2>&1 || {
        tail -n 3 "$work/log"
        skip "$2 could not be downloaded"
    }
    # The base image has no certificates for https.
    sed -i 's,https:,http:,' "$work/root/etc/apt/sources.list"
    container=$(store from scratch)
    cp -a "$work/root/." "$(store mount "$container")"
    store umount "$container" >/dev/null
    rm -rf --one-file-system "$work/root"
    store commit -q "$container" "$1" >/dev/null
    store rm "$container" >/dev/null
}

build_and_run() { # FILE BACKENDS [options of buildah]
    local container image=${1,,}
    store bud --isolation chroot --pull-never "${@:3}" -f "$work/tree/src/packaging/$1" -t "$image" "$work/tree" \
        >"$work/log" 2>&1 || fail "$(tail -n 30 "$work/log")"
    ! grep -E '^/lumeq/.*warning:' "$work/log" || fail "$1: the compiler warns"
    container=$(store from --pull-never "$image")
    inside() {
        store run --isolation chroot -v "$work/videos:/video" "$container" -- "$@"
    }
    inside lumeq --version | grep -F "$2" || fail "$1: the build is not $2"
    inside lumeq --doctor | grep -F "lumeq works here" || fail "$1: lumeq does not work"
    inside lumeq lumeq-sample.mkv --frames 5 -y -o /video/out.mkv
    [ -s "$work/videos/out.mkv" ] || fail "$1: lumeq wrote no video"
    store rm "$container" >/dev/null
    store rmi "$image" >/dev/null
}

echo "---- Containerfile"
base docker.io/library/debian:12-slim bookworm "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
build_and_run Containerfile "CPU only"

nvcc=$(command -v nvcc) || { echo "not built: Containerfile.cuda, because nvcc is not installed" && exit 0; }
echo "---- Containerfile.cuda"
toolkit=$(realpath "$(dirname "$(realpath "$nvcc")")/..")
base docker.io/library/ubuntu:24.04 noble "${UBUNTU_MIRROR:-https://archive.ubuntu.com/ubuntu}" --no-check-gpg \
    --components=main,universe
cuda=$(sed -n 's/^ARG CUDA=//p' "$work/tree/src/packaging/Containerfile.cuda")
container=$(store from --pull-never docker.io/library/ubuntu:24.04)
store config --env PATH=/usr/local/cuda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    --env CUDAARCHS=90 "$container"
store commit -q "$container" "docker.io/nvidia/cuda:$cuda-devel-ubuntu24.04" >/dev/null
build_and_run Containerfile.cuda "CPU and CUDA" -v "$toolkit:/usr/local/cuda:ro"
