#!/usr/bin/env bash
# The desktop files: the menu's entry, the icon, the description for software centres; and the same
# version everywhere.
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

# The description's file name is its id, where the build sets one.
id=$(sed -n 's/^LUMEQ_APP_ID:STRING=//p' "$build/CMakeCache.txt")
installed=$(find "$work/share" -name '*.metainfo.xml')
[ "$installed" = "${id:+$work/share/metainfo/$id.metainfo.xml}" ] || fail "with the id '$id' there is '$installed'"
grep -q "<id>${id:-com.example.lumeq}</id>" "$metainfo" || fail "another id is described"

# The named files exist.
[ -x "$work/bin/$(sed -n 's/^TryExec=//p' "$entry")" ] || fail "the entry starts nothing"
[ "$(sed -n 's/^Icon=//p' "$entry").svg" = "${icon##*/}" ] || fail "the entry has another icon"
[ -s "$icon" ] || fail "there is no icon"
grep -q "<launchable type=\"desktop-id\">${entry##*/}<" "$metainfo" || fail "no such entry is described"
grep -q '^Exec=lumeq --idle %F$' "$entry" || fail "several files would be as many windows"
grep -q '^MimeType=.*video/x-matroska;' "$entry" || fail "the entry opens no videos"

# The header has the version; CHANGELOG.md has its date, below changes that are not released yet.
version=$("$work/bin/lumeq" --version | sed -n 's/^lumeq //p')
from_header=$(sed -n 's/^#define LUMEQ_VERSION_\(MAJOR\|MINOR\|PATCH\) *//p' \
    "$source/include/lumeq/lumeq.h" | paste -sd .)
[ "$version" = "$from_header" ] || fail "the program is $version, the header $from_header"
newest=$(grep -m 1 '^## [0-9]' "$source/include/lumeq/CHANGELOG.md")
[[ $newest =~ ^'## '"$version"' ('(20[0-9]{2}-[0-9]{2}-[0-9]{2})')'$ ]] ||
    fail "the newest change is '$newest', not of $version"
grep -qF "version=\"$version\" date=\"${BASH_REMATCH[1]-}\"" "$metainfo" || fail "another release is described"

if command -v desktop-file-validate >/dev/null; then
    desktop-file-validate "$entry" || fail "the entry is not valid"
else
    echo "not looked at: whether the entry is valid, without desktop-file-validate"
fi
if command -v appstreamcli >/dev/null; then
    said=$(appstreamcli validate --no-net "$metainfo" 2>&1) || fail "$said"
else
    echo "not looked at: whether the description is valid, without appstreamcli"
fi
if command -v rsvg-convert >/dev/null; then
    rsvg-convert -w 16 "$icon" >"$work/icon.png" || fail "the icon cannot be drawn"
    [ -s "$work/icon.png" ] || fail "nothing was drawn"
else
    echo "not looked at: how the icon is drawn, without rsvg-convert"
fi
exit "$failed"
