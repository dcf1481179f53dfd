#!/usr/bin/env bash
# Measures how times grow with size, readers, CPUs and position, and writes the tables into RESULTS.md.
set -euo pipefail

source "$(dirname "$0")/../../deploy/setup.sh"
cd "$posenc_root"

usage() {
  cat <<'TXT'
usage: tests/bench/growth.sh [--print] [--no-build]

Builds and runs the program "growth" (about two minutes) and puts its tables into tests/bench/RESULTS.md,
between the lines that say "growth begins" and "growth ends".
  --print      writes them to standard output instead
  --no-build   measures the programs as they are
TXT
}

print=no build=yes
while [[ $# -gt 0 ]]; do
  case "$1" in
    --print) print=yes; shift ;;
    --no-build) build=no; shift ;;
    -h|--help) usage; exit 0 ;;
    *) echo "growth.sh: unknown argument '$1'" >&2; usage >&2; exit 2 ;;
  esac
done

if [[ $build == yes ]]; then
  install_missing build runtime bench
  echo "building ..." >&2
  cmake --preset bench > /dev/null
  cmake --build --preset bench --target growth posenc-server >&2
fi

tables=$(mktemp)
trap 'rm -f "$tables"' EXIT
echo "measuring ..." >&2
/usr/bin/python3 tests/bench/report.py --about > "$tables"
build/release/bin/growth >> "$tables"
if [[ $print == yes ]]; then
  cat "$tables"
else
  /usr/bin/python3 tests/bench/report.py --insert growth "$tables"
  echo "written: tests/bench/RESULTS.md" >&2
fi
