#!/usr/bin/env bash
# From nothing to a verified proof: build, make test parameters, start the daemon, prove a 2 KiB sector over gRPC on the CPU device, verify,
# stop. Everything lies in build/demo; parameters made once are used again.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '\n\033[1m%s\033[0m (%ss)\n' "$*" "$SECONDS"; }

say "1/5 build"
make --no-print-directory build

demo=build/demo
bin=build/bin
c1=tests/data/porep-2kib/c1.json.gz
mkdir -p "$demo/params"

say "2/5 parameters for the 2 KiB PoRep, from the system's randomness (1.1 GB, for tests only)"
if compgen -G "$demo/params/v28-stacked-*.vk" >/dev/null && compgen -G "$demo/params/v28-stacked-*.params" >/dev/null; then
    echo "made by an earlier run: $demo/params"
else
    "$bin/cuzk" setup --circuit porep --sector 2KiB --out "$demo/params"
fi

say "3/5 the daemon"
socket=$PWD/$demo/cuzk.sock
cat >"$demo/cuzk.toml" <<TOML
[daemon]
listen = "unix://$socket"
[memory]
total_budget = "4GiB"
[srs]
param_cache = "$PWD/$demo/params"
TOML
"$bin/cuzk-daemon" --check-config -c "$demo/cuzk.toml"
"$bin/cuzk-daemon" -c "$demo/cuzk.toml" 2>"$demo/daemon.log" &
daemon=$!
trap 'kill "$daemon" 2>/dev/null || true' EXIT
for _ in $(seq 100); do
    "$bin/cuzk-bench" -a "unix://$socket" status >/dev/null 2>&1 && break
    kill -0 "$daemon" 2>/dev/null || { cat "$demo/daemon.log"; exit 1; }
    sleep 0.1
done
"$bin/cuzk-bench" -a "unix://$socket" status

say "4/5 prove a sector over gRPC and verify"
"$bin/cuzk-bench" -a "unix://$socket" single -t porep --c1 "$c1" --out "$demo/proof.bin"
"$bin/cuzk" verify --c1 "$c1" --vk "$(echo "$demo"/params/v28-stacked-*.vk)" --proof "$demo/proof.bin"

say "5/5 stop"
kill -TERM "$daemon"
wait "$daemon"
trap - EXIT
echo "the daemon drained and exited 0; its log: $demo/daemon.log"
say "done"
