#!/usr/bin/env bash
# Checks the desktop files: the menu entry, the icon, and the metainfo for software centres. The version
# must be the same everywhere.
# Arguments: cmake, the source folder, the build folder.
set -euo pipefail
cmake=$1 source=$2 build=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work" >/dev/null
entry=$work/share/applications/lumeq.desktop
metainfo=$build/src/packaging/lumeq.metainfo.xml
icon=$work/share/icons/hicolor/scalable/apps/lumeq.svg
failed=0

fail() {
    echo "$*" >&2
    failed=1
}

# The metainfo is installed only if the build sets an id, and the file is named after the id.
id=$(sed -n 's/^LUMEQ_APP_ID:STRING=//p' "$build/CMakeCache.txt")
installed=$(find "$work/share" -name '*.metainfo.xml')
[ "$installed" = "${id:+$work/share/metainfo/$id.metainfo.xml}" ] || fail "with the id '$id' the installed metainfo is '$installed'"
grep -q "<id>${id:-com.example.lumeq}</id>" "$metainfo" || fail "the metainfo lacks this id"

[ -x "$work/bin/$(sed -n 's/^TryExec=//p' "$entry")" ] || fail "the program that the entry starts is not installed"
[ "$(sed -n 's/^Icon=//p' "$entry").svg" = "${icon##*/}" ] || fail "the entry names another icon"
[ -s "$icon" ] || fail "the icon is not installed"
grep -q "<launchable type=\"desktop-id\">${entry##*/}<" "$metainfo" || fail "the metainfo names another entry"
grep -q '^Exec=lumeq --idle %F$' "$entry" || fail "several files would open several windows"
grep -q '^MimeType=.*video/x-matroska;' "$entry" || fail "the entry does not open Matroska videos"

# The header defines the version. CHANGELOG.md has its date.
version=$("$work/bin/lumeq" --version | sed -n 's/^lumeq //p')
from_header=$(sed -n 's/^#define LUMEQ_VERSION_\(MAJOR\|MINOR\|PATCH\) *//p' \
    "$source/include/lumeq/lumeq.h" | paste -sd .)
[ "$version" = "$from_header" ] || fail "the program's version is $version, the header's $from_header"
newest=$(grep -m 1 '^## [0-9]' "$source/include/lumeq/CHANGELOG.md")
[[ $newest =~ ^'## '"$version"' ('(20[0-9]{2}-[0-9]{2}-[0-9]{2})')'$ ]] ||
    fail "the newest release in CHANGELOG.md is '$newest', not $version"
grep -qF "version=\"$version\" date=\"${BASH_REMATCH[1]-}\"" "$metainfo" || fail "the metainfo lacks this release or its date"

if command -v desktop-file-validate >/dev/null; then
    desktop-file-validate "$entry" || fail "the entry is not valid"
else
    echo "not checked: the entry, because desktop-file-validate is not installed"
fi
if command -v appstreamcli >/dev/null; then
    said=$(appstreamcli validate --no-net "$metainfo" 2>&1) || fail "$said"
else
    echo "not checked: the metainfo, because appstreamcli is not installed"
fi
if command -v rsvg-convert >/dev/null; then
    rsvg-convert -w 16 "$icon" >"$work/icon.png" || fail "the icon cannot be drawn"
    [ -s "$work/icon.png" ] || fail "the drawn icon is empty"
else
    echo "not checked: drawing the icon, because rsvg-convert is not installed"
fi
exit "$failed"
