#!/usr/bin/env bash
# Makes the source archive of the Python package in $1 (default: build/library). Needs `pip install build scikit-build-core`.
set -euo pipefail
source=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cp -r "$source"/{CMakeLists.txt,LICENSE,include} "$work"
cp -r "$source"/src/{equalizer,packaging,plugins} "$work/src"
# Move pyproject.toml to the archive's root, and adapt its paths.
sed -e 's|"\.\./\.\./\.\."|"."|' -e 's|"\.\./\.\./\.\./|"|' -e 's|^readme = "|&src/plugins/python/|' \
    "$source/src/plugins/python/pyproject.toml" >"$work/pyproject.toml"
rm "$work/src/plugins/python/pyproject.toml"
python3 -m build --sdist --no-isolation -o "${1:-$source/build/library}" "$work"
