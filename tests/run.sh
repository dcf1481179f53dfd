#!/usr/bin/env bash
# Installs what is missing, builds everything and runs every test. Needs Debian 12, and root or sudo where
# packages are missing. Arguments go to ctest, e.g. -L unit or -R Golden.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../deploy/setup.sh"

step "looking for packages"
install_missing build runtime python tests
configure_and_build -DPOSENC_BUILD_TESTS=ON -DPOSENC_BUILD_PYTHON=ON
step "testing"
cd "$posenc_root/build/release"
exec ctest --output-on-failure -j2 "$@"
