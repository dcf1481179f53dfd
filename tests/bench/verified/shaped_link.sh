#!/bin/bash
# Measures verified_link over loopback and over links of 1 and 10 Gbit/s, and prints a Markdown table.
#
#   sudo tests/bench/verified/shaped_link.sh [BIN_DIR]        (default: build/release/bin)
#
# A link is a pair of veth interfaces, one end in a network namespace of its own, where the server runs. A
# token bucket (tc tbf) limits what the server sends; what the client sends is not limited. There is no
# delay: that would take netem. Everything that was made is removed at the end.
set -euo pipefail

bin=${1:-$(dirname "$0")/../../../build/release/bin}
namespace=posenc-link-$$
near=pl$$n
far=pl$$f
server=

cleanup() {
  if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  ip link del "$near" 2>/dev/null || true
  ip netns del "$namespace" 2>/dev/null || true
  rm -f "$log"
}
log=$(mktemp)
trap cleanup EXIT

# start_server LISTEN PREFIX...: leaves the port in $port.
start_server() {
  local listen=$1
  shift
  : > "$log"
  "$@" "$bin/posenc-server" --listen "$listen" --admin-listen 127.0.0.1:0 --cache-bytes 2GiB \
    --log-format json 2> "$log" &
  server=$!
  for _ in $(seq 100); do
    if grep -q '"ready"' "$log"; then break; fi
    sleep 0.1
  done
  port=$(sed -n '/"listening"/s/.*"port": *\([0-9]*\).*/\1/p' "$log")
  [[ -n $port ]] || { echo "the server did not start:" >&2; cat "$log" >&2; exit 1; }
}

stop_server() {
  kill "$server"
  wait "$server" 2>/dev/null || true
  server=
}

make_link() {
  ip netns add "$namespace"
  ip link add "$near" type veth peer name "$far"
  ip link set "$far" netns "$namespace"
  ip addr add 10.213.77.1/30 dev "$near"
  ip link set "$near" up
  ip -n "$namespace" addr add 10.213.77.2/30 dev "$far"
  ip -n "$namespace" link set "$far" up
  ip -n "$namespace" link set lo up
}

# shape RATE BURST: a bucket of a few milliseconds, so that it hardly shows in the times.
shape() {
  tc -n "$namespace" qdisc replace dev "$far" root tbf rate "$1" burst "$2" latency 20ms
}

echo '| link | table | streamed | verified, 1 thread | all cores | streamed ÷ all cores | CPU of client |'
echo '|---|---|---|---|---|---|---|'
start_server 127.0.0.1:0 env
"$bin/verified_link" "127.0.0.1:$port" loopback
stop_server

make_link
start_server 10.213.77.2:0 ip netns exec "$namespace"
"$bin/verified_link" "10.213.77.2:$port" "veth, not shaped"
shape 10gbit 4mb
"$bin/verified_link" "10.213.77.2:$port" "10 Gbit/s"
shape 1gbit 512kb
"$bin/verified_link" "10.213.77.2:$port" "1 Gbit/s"
