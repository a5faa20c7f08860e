#!/usr/bin/env bash
# Proofs of 32 GiB sectors in the real daemon on one GPU, measured. Two steps, so that build and GPU machine can be two:
#   gpu-32g.sh bundle [BUILD]            puts what a run needs into build-gpu-32g/ (needs nvcc, no GPU); BUILD: a build folder, default build
#   build-gpu-32g/run.sh [OUT] [STEP…]   on the GPU machine, as root: steps porep, winning, snap, window; proofs, keys and figures to OUT; no installs
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ${1:-} != bundle || $# -gt 2 ]]; then
    sed -n 2,4p "$0"
    exit 2
fi
build=${2:-build} to=build-gpu-32g
cmake --build "$build" --target cuzk cuzk-daemon cuzk-bench >/dev/null
rm -rf "$to"
mkdir -p "$to/lib"
cp "$build"/bin/{cuzk,cuzk-daemon,cuzk-bench} scripts/gpu-32g.py ../shared/vectors/reference/keys/toxic-waste.json "$to/"
strip --strip-unneeded "$to"/cuzk*
# All libraries but the C library's own, which every machine has.
ldd "$to"/cuzk* | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u | grep -Ev '/(libc|libm|libpthread|libdl|librt)\.so' |
    xargs cp -L -t "$to/lib"
chmod -R u+w "$to"
cat >"$to/run.sh" <<'RUN'
#!/usr/bin/env bash
# Made by scripts/gpu-32g.sh.
cd "$(dirname "$0")"
LD_LIBRARY_PATH=$PWD/lib exec python3 gpu-32g.py "$@"
RUN
chmod +x "$to/run.sh"
echo "bundle in $to: $(du -sh "$to" | cut -f1)"
