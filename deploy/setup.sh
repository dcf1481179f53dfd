#!/usr/bin/env bash
# What tests/run.sh, deploy/quickstart.sh and the Dockerfile share: progress, packages, configure and build.
# Sourced, it defines the functions below; called with section names, it prints the packages of
# deploy/packages.txt in these sections.

posenc_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Progress and failures go to stderr, so that stdout stays the program's own.
step() {
  current_step=$*
  printf '== %s\n' "$*" >&2
}

fail() {
  printf 'failed: %s\n' "${*:-$current_step}" >&2
  exit 1
}

# Prints the packages of the sections named; "a|b" is a, unless b is there already.
packages_of() {
  local section
  for section; do
    awk -v want="[$section]" '/^\[/ { on = ($0 == want); next } on && /^[a-z0-9]/' \
      "$posenc_root/deploy/packages.txt"
  done
}

# Whether one of the alternatives "a|b" is installed.
is_installed() {
  local alternative
  for alternative in ${1//|/ }; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$alternative" 2>/dev/null) == installed ]] && return
  done
  return 1
}

# Installs the packages of the sections named that are not there yet.
install_missing() {
  local package missing=() as_root=()
  for package in $(packages_of "$@"); do
    is_installed "$package" || missing+=("${package%%|*}")
  done
  if ((${#missing[@]} == 0)); then
    echo "all packages are installed" >&2
    return
  fi
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "missing packages, and neither root nor sudo to install them: ${missing[*]}"
    as_root=(sudo)
  fi
  echo "installing ${missing[*]}" >&2
  "${as_root[@]}" apt-get update -q >&2 || fail "apt-get update"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    "${missing[@]}" >&2 || fail "apt-get install ${missing[*]}"
}

# Prints how many compilers may run at once: one for each CPU, and 1.5 GiB for each.
build_jobs() {
  local cpus memory_kib jobs
  cpus=$(nproc)
  memory_kib=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
  jobs=$((memory_kib / (1536 * 1024)))
  ((jobs > cpus)) && jobs=$cpus
  ((jobs < 1)) && jobs=1
  echo "$jobs"
}

# Configures and builds the release preset; arguments are further options for CMake. The compiler's flags are
# the same for every caller, so that one script reuses what another has compiled.
configure_and_build() {
  local options=(-DPOSENC_WERROR=ON "$@") jobs
  command -v ccache >/dev/null && options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  step "configuring build/release"
  (cd "$posenc_root" && cmake --preset release "${options[@]}") >&2 || fail
  jobs=$(build_jobs)
  step "building with $jobs compilers at a time (some minutes the first time)"
  cmake --build "$posenc_root/build/release" -j "$jobs" >&2 || fail
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  packages_of "$@"
fi
