#!/usr/bin/env bash
# Installs what is missing, builds, and makes the Debian packages posenc-server, posenc and libposenc-dev.
#   deploy/packages.sh [FOLDER]    where to put them, default build/packages
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

folder=$(realpath -m "${1:-$posenc_root/build/packages}")
step "looking for packages"
install_missing build runtime packaging
configure_and_build -DPOSENC_BUILD_TESTS=OFF
step "making packages in $folder"
rm -rf "$folder"
cpack --config "$posenc_root/build/release/CPackConfig.cmake" -B "$folder" >&2 || fail
rm -rf "$folder/_CPack_Packages"
ls "$folder"/*.deb
