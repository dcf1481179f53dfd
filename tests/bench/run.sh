#!/usr/bin/env bash
# Measures posenc side by side with the alternative, in interleaved rounds, and prints a table.
set -euo pipefail

usage() {
  cat <<'TXT'
usage: tests/bench/run.sh [--json FILE] [--only KEY]

Builds the benchmarks (preset "bench") and prints every ratio with the machine it was measured on.
  --json FILE  also writes {"machine": ..., "ratios": {KEY: ...}, "details": [...]} to FILE
  --only KEY   measures one ratio, e.g. generate_vs_memset
TXT
}

json="" only=""
while [[ $# -gt 0 ]]; do
  case "$1" in
    --json) json=${2:?--json needs a file}; shift 2 ;;
    --only) only=${2:?--only needs a key}; shift 2 ;;
    -h|--help) usage; exit 0 ;;
    *) echo "run.sh: unknown argument '$1'" >&2; usage >&2; exit 2 ;;
  esac
done

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
echo "building the benchmarks ..." >&2
cmake --preset bench > /dev/null
cmake --build --preset bench --target generate_vs_memset >&2

lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
echo "measuring ..." >&2
build/bench/bin/generate_vs_memset ${only:+"$only"} > "$lines"
/usr/bin/python3 tests/bench/report.py "$lines" ${json:+"$json"}
