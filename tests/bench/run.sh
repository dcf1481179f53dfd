#!/usr/bin/env bash
# Measures posenc side by side with the alternative, in interleaved rounds, and prints a table.
set -euo pipefail

source "$(dirname "$0")/../../deploy/setup.sh"
cd "$posenc_root"
programs=(generate_vs_memset pytorch_ratios rpc_ratios server_figures beside_bulk near_cache_figure)

usage() {
  cat <<'TXT'
usage: tests/bench/run.sh [--json FILE] [--only KEY] [--results] [--no-build]

Installs what is missing, builds the benchmarks (preset "bench", in build/release) and prints every ratio,
its goal and its spread, with the machine and the versions that it was measured on. Ratios are over 1 where
posenc is the better one, except where the goal is an upper bound.
  --json FILE  also writes {"machine": ..., "ratios": {KEY: ...}, "details": [...]} to FILE
  --only KEY   measures one ratio
  --results    also writes the table into tests/bench/RESULTS.md
  --no-build   measures the programs as they are

Keys:
TXT
  /usr/bin/python3 tests/bench/report.py --keys
}

json="" only="" build=yes results=no
while [[ $# -gt 0 ]]; do
  case "$1" in
    --json) json=${2:?--json needs a file}; shift 2 ;;
    --only) only=${2:?--only needs a key}; shift 2 ;;
    --results) results=yes; shift ;;
    --no-build) build=no; shift ;;
    -h|--help) usage; exit 0 ;;
    *) echo "run.sh: unknown argument '$1'" >&2; usage >&2; exit 2 ;;
  esac
done

if [[ -n $only ]]; then
  programs=("$(/usr/bin/python3 tests/bench/report.py --program "$only")")
fi
if [[ $build == yes ]]; then
  install_missing build runtime bench
  echo "building the benchmarks ..." >&2
  cmake --preset bench > /dev/null
  cmake --build --preset bench --target "${programs[@]}" bare_server posenc-server >&2
fi

lines=$(mktemp)
trap 'rm -f "$lines" "$lines.md"' EXIT
failures=0
for program in "${programs[@]}"; do
  echo "measuring: $program ..." >&2
  if ! "build/release/bin/$program" ${only:+"$only"} >> "$lines"; then
    echo "run.sh: $program failed" >&2
    failures=$((failures + 1))
  fi
done
/usr/bin/python3 tests/bench/report.py "$lines" ${json:+"$json"}
if [[ $results == yes ]]; then
  /usr/bin/python3 tests/bench/report.py --markdown "$lines" > "$lines.md"
  /usr/bin/python3 tests/bench/report.py --insert ratios "$lines.md"
  echo "written: tests/bench/RESULTS.md" >&2
fi
[[ $failures -eq 0 ]]
