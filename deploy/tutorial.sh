#!/usr/bin/env bash
# The tutorial's complete example, against a running server: adds the sinusoidal encoding to embeddings
# [2, 10, 512], prints shapes and the range of values, and draws both pictures.
#   deploy/tutorial.sh [--server ADDR] [--output FOLDER]
#     --server ADDR     a server that runs; without one, starts its own and ends it
#     --output FOLDER   where the pictures go, default the current folder
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

server_address='' output=.
while (($# > 0)); do
  case $1 in
    --server) server_address=${2:?--server needs an address}; shift ;;
    --output) output=${2:?--output needs a folder}; shift ;;
    *) fail "unknown argument '$1'; allowed: --server ADDR, --output FOLDER" ;;
  esac
  shift
done

# A test that has built the programs already says where they are.
bin=${POSENC_BINARY_DIR:-$posenc_root/build/release/bin}
if [[ -z ${POSENC_BINARY_DIR:-} ]]; then
  step "looking for packages"
  install_missing build runtime plots
  configure_and_build -DPOSENC_BUILD_TESTS=OFF
fi

scratch=$(mktemp -d)
server=
stop_server() {
  if [[ -n $server ]]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$scratch"
}
trap stop_server EXIT
trap 'exit 130' INT TERM

if [[ -z $server_address ]]; then
  step "starting a server"
  "$bin/posenc-server" --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --port-file "$scratch/port" \
    2>"$scratch/log" &
  server=$!
  for ((try = 0; ; try++)); do
    kill -0 "$server" 2>/dev/null || { sed 's/^/  /' "$scratch/log" >&2; fail "the server did not start"; }
    ((try < 300)) || fail "the server was not healthy within half a minute"
    if [[ -s $scratch/port ]]; then
      server_address=localhost:$(<"$scratch/port")
      "$bin/posenc" health --server "$server_address" >/dev/null 2>&1 && break
    fi
    sleep 0.1
  done
fi

step "adding the encoding of $server_address to embeddings"
"$bin/posenc-tutorial" "$server_address" || fail

step "drawing"
mkdir -p "$output"
"$bin/posenc" plot heatmap sinusoidal --d-model 128 --rows 0:100 -o "$output/heatmap.png" --server "$server_address"
"$bin/posenc" plot waveforms sinusoidal --d-model 512 --rows 0:200 -o "$output/waveforms.png" \
  --server "$server_address"
printf 'pictures          %s %s\n' "$output/heatmap.png" "$output/waveforms.png"
