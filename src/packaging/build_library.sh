#!/usr/bin/env bash
# Builds liblumeq for TARGET with the C compiler of zig, into build/library/: an archive with header, libraries,
# lumeq.pc, CMake package and licence, and a wheel for every Python from 3.9 on. Needs cmake, the packages that
# `pip install ziglang scikit-build-core wheel` installs, and libsimde-dev for fast kernels on ARM. Passes further
# arguments to cmake. -DLUMEQ_CUDA=ON adds CUDA to x86_64-linux and needs nvcc.
set -euo pipefail
source=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)

target=${1-}
case $target in
x86_64-linux | aarch64-linux) triple=$target-gnu.2.28 system=Linux tag=manylinux_2_28_${target%-linux} ;; # glibc
x86_64-windows) triple=$target-gnu system=Windows tag=win_amd64 ;;
x86_64-macos) triple=$target.11.0 system=Darwin tag=macosx_11_0_x86_64 ;;
aarch64-macos) triple=$target.11.0 system=Darwin tag=macosx_11_0_arm64 ;;
*)
    echo "usage: build_library.sh x86_64-linux | aarch64-linux | x86_64-windows | x86_64-macos | aarch64-macos" >&2
    exit 2
    ;;
esac

work=$source/build/library/$target
mkdir -p "$work/tools/include"
for tool in "cc -target $triple -isystem $work/tools/include" ar ranlib; do
    printf '#!/bin/sh\nexec python3 -m ziglang %s "$@"\n' "$tool" >"$work/tools/${tool%% *}"
    chmod +x "$work/tools/${tool%% *}"
done
ln -sfn /usr/include/simde "$work/tools/include/simde" # only simde: other headers there are for this system

arguments=("-DCMAKE_SYSTEM_NAME=$system" "-DCMAKE_SYSTEM_PROCESSOR=${target%%-*}" "-DCMAKE_C_COMPILER=$work/tools/cc"
    "-DCMAKE_AR=$work/tools/ar" "-DCMAKE_RANLIB=$work/tools/ranlib" -DCMAKE_INSTALL_NAME_TOOL=true
    -DCMAKE_INSTALL_LIBDIR=lib -DLUMEQ_CXX_LIBRARY=c++ -DLUMEQ_CUDA=OFF "${@:2}")
rm -f "$work"/*.whl
(IFS=';' && SKBUILD_CMAKE_ARGS=${arguments[*]} SKBUILD_BUILD_DIR=$work/build SKBUILD_BUILD_TARGETS="lumeq_shared;lumeq_lib" \
    python3 -m pip wheel --no-build-isolation --no-deps -w "$work" \
    "$source/src/plugins/python")
python3 -m wheel tags --remove --platform-tag "$tag" "$work"/*.whl

wheel=$(basename "$work"/*.whl)
name=liblumeq-$(cut -d - -f 2 <<<"$wheel")-$target
rm -rf "${work:?}/$name"
for component in library development; do
    cmake --install "$work/build" --prefix "$work/$name" --component $component >/dev/null
done
cp "$source/LICENSE" "$work/$name"
mv "$work/$wheel" "$source/build/library"
tar -C "$work" -czf "$source/build/library/$name.tar.gz" "$name"
echo "build/library/$name.tar.gz build/library/$wheel"
