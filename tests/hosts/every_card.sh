#!/usr/bin/env bash
# Builds all device code for every GPU architecture that the toolkit supports, with warnings as errors.
# Exit code: 0 passed, 77 cannot run here, otherwise failed.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)

command -v nvcc >/dev/null || { echo "skipped: nvcc is not installed" && exit 77; }

env -u CUDAARCHS cmake --preset release -S "$here" -B "$here/build/ci/every_card" -DLUMEQ_CUDA=ON \
    -UCMAKE_CUDA_ARCHITECTURES -DLUMEQ_WERROR=ON -DBUILD_TESTING=OFF
cmake --build "$here/build/ci/every_card" --parallel "$(nproc)"
# Orin (sm_87) runs code for sm_87 and PTX, but not code for sm_80.
for code in sm_87 compute_80; do
    grep -qE "code=[^ ]*$code" "$here/build/ci/every_card/compile_commands.json"
done
