#!/usr/bin/env bash
# Tests samples/demo.sh with a fake build and a fake apt-get. The demo must build all targets, also in a build
# folder that was moved or configured differently. A failed installation of packages must show the end of its log.
# Arguments: cmake, the source folder.
set -euo pipefail
real_cmake=$1 source=$2
command -v make >/dev/null || {
    echo "skipped: demo.sh needs make"
    exit 77
}

fail() {
    echo "$*" >&2
    exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir "$work/bin" "$tree"
cp -r "$source"/{CMakeLists.txt,include,samples,shaders,src} "$tree"

# A cmake that configures normally, but builds only programs that do nothing.
cat >"$work/bin/cmake" <<END
#!/bin/sh
[ "\$1" = --build ] || exec "$real_cmake" "\$@"
echo "\$@" >>"$work/built"
mkdir -p "\$2/samples"
printf '#!/bin/sh\n' | tee "\$2/lumeq" >"\$2/samples/lumeq-contact-sheet"
chmod +x "\$2/lumeq" "\$2/samples/lumeq-contact-sheet"
END
chmod +x "$work/bin/cmake"
export PATH=$work/bin:$PATH

cached() {
    sed -n "s/^$1:.*=//p" "$tree/build/CMakeCache.txt"
}

demo() {
    rm -f "$work/built"
    "$tree/samples/demo.sh" --no-install >"$work/log" 2>&1 || fail "$(cat "$work/log")"
    ! grep -e --target "$work/built" || fail "the demo builds only some targets"
    [ "$(cached LUMEQ_PROGRAM), $(cached BUILD_TESTING)" = "ON, OFF" ] || fail "the demo does not build the program, or it builds tests"
}

for option in LUMEQ_PROGRAM=ON LUMEQ_CUDA=AUTO LUMEQ_CUDA=OFF BUILD_SHARED_LIBS=OFF BUILD_SHARED_LIBS=ON LUMEQ_PROGRAM=OFF; do
    "$real_cmake" -S "$tree" -B "$tree/build" "-D$option" -DBUILD_TESTING=OFF -DCMAKE_CUDA_ARCHITECTURES=80 \
        >"$work/log" 2>&1 || fail "-D$option: $(cat "$work/log")"
done
demo
[ "$(cached LUMEQ_CUDA)" = OFF ] || fail "the demo changes LUMEQ_CUDA in an existing build folder"
mv "$tree" "$work/moved"
tree=$work/moved
demo

cat >"$work/bin/apt-get" <<'END'
#!/bin/sh
seq 1000
echo "the reason of apt-get"
[ ! -e "$0.fails" ]
END
chmod +x "$work/bin/apt-get"
ln -s "$(command -v env)" "$work/bin/sudo"
install() {
    (
        set --
        # shellcheck source=samples/build.sh
        . "$tree/samples/build.sh"
        # shellcheck disable=SC2034 # used by install_packages
        missing="one two"
        install_packages
    ) >"$work/log" 2>&1
}
install || fail "$(cat "$work/log")"
[ "$(wc -l <"$work/log")" = 1 ] || fail "a successful installation prints $(wc -l <"$work/log") lines, not 1"
grep -q "minutes.*build/packages.log.*one two" "$work/log" || fail "$(cat "$work/log")"
touch "$work/bin/apt-get.fails"
! install || fail "install_packages succeeds although apt-get failed"
[ "$(wc -l <"$work/log")" -lt 30 ] || fail "a failed installation prints $(wc -l <"$work/log") lines, not fewer than 30"
for text in "the reason of apt-get" "one two.*$tree/build/packages.log"; do
    grep -q "$text" "$work/log" || fail "$(cat "$work/log")"
done
