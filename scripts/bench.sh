#!/usr/bin/env bash
# bench.sh [--peers]: the tables of docs/performance.md from the programs in build/. --peers adds the reference (bellperson through the
# oracle) and gnark-crypto from the shared folder, built in a temporary folder, on the same cores in the same run (some 25 minutes).
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 scripts/bench.py "$@"
