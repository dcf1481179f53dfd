#!/usr/bin/env bash
# Installs the packages into a bare Debian 12, serves from them, removes them, and looks for what is left. Needs root,
# debootstrap and Debian's archive, so it is no part of tests/run.sh.
#   tests/deploy/bare_system.sh [PACKAGES [ROOT]]
#     PACKAGES  folder of the .deb files, default build/packages (see deploy/packages.sh)
#     ROOT      a system that debootstrap has made; otherwise one is made and thrown away
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/setup.sh"

# What runs inside of the system, in namespaces of its own, so that nothing outlives it.
if [[ ${1:-} == --inside ]]; then
  mount -t proc proc /proc
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q >/dev/null
  step "installing"
  apt-get install -y -q --no-install-recommends /packages/posenc-server_*.deb /packages/posenc_*.deb >/dev/null
  [[ -L /etc/systemd/system/multi-user.target.wants/posenc-server.service ]] || fail "the service is not enabled"
  step "serving as the unit would"
  install -d -o posenc -g posenc /run/posenc
  setpriv --reuid posenc --regid posenc --clear-groups posenc-server --config /etc/posenc/server.toml 2>/packages/log &
  for ((try = 0; ; try++)); do
    posenc health --server 127.0.0.1:50051 >/dev/null 2>&1 && break
    ((try < 300)) && kill -0 $! || fail "the server is not healthy: $(cat /packages/log)"
    sleep 0.1
  done
  posenc rope --head-dim 128 --rows 0:2 --server 127.0.0.1:50051 >/dev/null || fail "no table"
  kill $!
  wait $! || fail "the server did not drain"
  rm -r /run/posenc
  step "removing"
  apt-get purge -y -q posenc-server posenc >/dev/null
  left=$(find / -xdev -name '*posenc*' -not -path '/proc/*' -not -path '/packages*' -not -path '/posenc-source*'
         grep -l posenc /etc/passwd /etc/group /etc/shadow || true)
  [[ -z $left ]] || fail "left behind: $left"
  step "nothing is left"
  exit 0
fi

packages=$(realpath "${1:-$posenc_root/build/packages}")
compgen -G "$packages/posenc-server_*.deb" >/dev/null || fail "no packages in $packages; run deploy/packages.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=${2:-$scratch/root}
if [[ ! -e $root/etc/debian_version ]]; then
  step "making a bare Debian 12"
  debootstrap --variant=minbase bookworm "$root" >&2 || fail
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
rm -rf "$root/packages" "$root/posenc-source"
mkdir -p "$root/packages" "$root/posenc-source/deploy" "$root/posenc-source/tests/deploy"
cp "$packages"/*.deb "$root/packages/"
cp "$posenc_root/deploy/setup.sh" "$root/posenc-source/deploy/"
cp "${BASH_SOURCE[0]}" "$root/posenc-source/tests/deploy/"
unshare --mount --pid --fork chroot "$root" bash /posenc-source/tests/deploy/bare_system.sh --inside
