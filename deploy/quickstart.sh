#!/usr/bin/env bash
# Installs what is missing, builds, starts a server that is warmed with the tables of Llama 3.1 8B, shows
# what it serves, and goes on serving until Ctrl-C.
#   deploy/quickstart.sh [--once] [--port N]
#     --once    ends after the show
#     --port N  gRPC port, default 50051; 0 takes a free one
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

once=false port=50051
while (($# > 0)); do
  case $1 in
    --once) once=true ;;
    --port) port=${2:?--port needs a number}; shift ;;
    *) fail "unknown argument '$1'; allowed: --once, --port N" ;;
  esac
  shift
done
[[ $port =~ ^[0-9]+$ ]] || fail "--port is '$port'; allowed: a number"

# A test that has built the programs already says where they are.
bin=${POSENC_BINARY_DIR:-$posenc_root/build/release/bin}
model=$posenc_root/deploy/models/llama-3.1-8b/config.json

if [[ -z ${POSENC_BINARY_DIR:-} ]]; then
  step "looking for packages"
  install_missing build runtime
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

step "starting the server, warmed with Llama 3.1 8B"
"$bin/posenc-server" --listen "127.0.0.1:$port" --admin-listen 127.0.0.1:0 --warm "$model" \
  --port-file "$scratch/port" --admin-port-file "$scratch/admin-port" 2>"$scratch/log" &
server=$!

alive() { kill -0 "$server" 2>/dev/null; }
fail_with_log() {
  sed 's/^/  /' "$scratch/log" >&2
  fail "$1; its log stands above"
}
for ((try = 0; ; try++)); do
  alive || fail_with_log "the server did not start (is port $port taken?)"
  ((try < 600)) || fail_with_log "the server was not healthy within a minute"
  if [[ -s $scratch/port && -s $scratch/admin-port ]]; then
    port=$(<"$scratch/port")
    "$bin/posenc" health --server "localhost:$port" >/dev/null 2>&1 && break
  fi
  sleep 0.1
done

# Shows a command and runs it.
show() {
  printf '\n$ posenc %s\n' "${*//$posenc_root\//}"
  "$bin/posenc" "$@" --server "localhost:$port" || fail "posenc $*"
}

# Shows the first line of what a command prints: of a whole table, its shape and the range of its values.
show_first_line() {
  printf '\n$ posenc %s | head -n 1\n' "$*"
  "$bin/posenc" "$@" --server "localhost:$port" | sed -n 1p || fail "posenc $*"
}

# Prints the metrics page; a bare Debian has no HTTP client.
metrics() {
  exec 3<>"/dev/tcp/127.0.0.1/$(<"$scratch/admin-port")"
  printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3
  cat <&3
  exec 3>&-
}

step "the sinusoidal table of the first Transformer"
show sinusoidal --d-model 512 --max-len 5000 --rows 0:3
show_first_line sinusoidal --d-model 512 --max-len 5000

step "the RoPE cache of Llama 3.1 8B, from the model's own config.json"
show model "$model"
show rope --model "$model" --rows 0:3

step "the ALiBi bias of 12 heads, one query, 20 keys"
show alibi --heads 12 --q 19:20 --k 0:20

step "metrics"
printf '\n$ curl localhost:%s/metrics\n' "$(<"$scratch/admin-port")"
metrics | grep -E '^(posenc_cache_requests_total|posenc_blocks_generated_total|posenc_cache_size_bytes|posenc_ready|grpc_server_handled_total\{.*"OK".*"GetSlice")' \
  || fail "the metrics page"

if $once; then
  step "done"
  exit 0
fi
step "serving on localhost:$port, metrics on http://localhost:$(<"$scratch/admin-port")/metrics; Ctrl-C ends it"
wait "$server" || fail_with_log "the server has ended"
