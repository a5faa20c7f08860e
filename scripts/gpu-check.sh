#!/usr/bin/env bash
# Tests and measures the CUDA device. Three steps, so that build machine and GPU machine can be two:
#   gpu-check.sh bundle [BUILD]   puts what a run needs into build-gpu/ (needs nvcc, no GPU); BUILD: a build folder, default build
#   build-gpu/run.sh [OUT]        on the GPU machine, from any folder: tests, sanitizer, benchmarks; logs to OUT; no installs
#   gpu-check.sh [BUILD]          both, here
set -euo pipefail
cd "$(dirname "$0")/.."

bundle() {
    local build=$1 to=build-gpu
    local vectors=../shared/vectors
    cmake --build "$build" --target test_diff_cuda test_diff_cuda_setup test_diff_cuda_prove bench_cuda bench_cuda_prove \
        cuzk >/dev/null
    rm -rf "$to"
    mkdir -p "$to"
    cp "$build"/tests/test_diff_cuda{,_setup,_prove} "$build"/bin/{bench_cuda,bench_cuda_prove,cuzk} scripts/gpu-proofs.py "$to/"
    strip --strip-unneeded "$to"/{test_diff_cuda*,bench_cuda*,cuzk}
    # Libraries that a GPU machine may lack.
    cp -L $(ldd "$to/test_diff_cuda" "$to/cuzk" | awk '/libcmocka|libyajl/ {print $3}') "$to/"
    # The reference's inputs, keys and proofs of 2 KiB sectors, and one 32 GiB C1 output for the partition's benchmark.
    for f in reference/2kib/{porep-v1_1,winning,window-v1_2,update} reference/keys/toxic-waste.json \
        reference/32gib/porep-v1_1/c1.json.gz; do
        mkdir -p "$to/vectors/$(dirname "$f")"
        cp -r "$vectors/$f" "$to/vectors/$(dirname "$f")/"
    done
    chmod -R u+w "$to"
    cat >"$to/run.sh" <<'RUN'
#!/usr/bin/env bash
# Made by scripts/gpu-check.sh. Exit status: 0 when every step passed.
set -uo pipefail
cd "$(dirname "$0")"
out=${1:-.}
export LD_LIBRARY_PATH=$PWD CZ_REQUIRE_GPU=1
bad=0
step() { # step NAME SECONDS COMMAND…: the log's end when it fails
    local name=$1 limit=$2
    shift 2
    if timeout "$limit" "$@" >"$out/$name.log" 2>&1; then
        echo "ok    $name: $(grep -E 'PASSED|ERROR SUMMARY|RACECHECK SUMMARY|all proofs' "$out/$name.log" | tail -1)"
    else
        echo "FAIL  $name (status $?)"
        tail -15 "$out/$name.log"
        bad=1
    fi
}
nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,power.limit --format=csv,noheader
./cuzk --version
./cuzk gpu list
step tests 200 ./test_diff_cuda
step setup 100 ./test_diff_cuda_setup
step prove 300 ./test_diff_cuda_prove
folder=$(mktemp -d)
step proofs 120 python3 gpu-proofs.py ./cuzk vectors cuda:0 "$folder"
cat "$out/proofs.log"
rm -rf "$folder"
timeout 200 ./bench_cuda | tee "$out/bench.log"
((PIPESTATUS[0] == 0)) || bad=1
timeout 200 ./bench_cuda_prove --c1 vectors/reference/32gib/porep-v1_1/c1.json.gz | tee "$out/bench-prove.log"
((PIPESTATUS[0] == 0)) || bad=1
for workers in 1 2; do
    timeout 120 ./bench_cuda_prove --c1 vectors/reference/32gib/porep-v1_1/c1.json.gz --partition $workers |
        tee "$out/bench-partition-$workers.log"
    ((PIPESTATUS[0] == 0)) || bad=1
done
if command -v compute-sanitizer >/dev/null; then
    # Small cases: the sanitizer slows kernels down a hundredfold. All at once, after the benchmarks.
    running=()
    sanitize() { # sanitize TOOL BINARY CASE…
        local tool=$1 binary=$2 case
        shift 2
        for case; do
            (
                bad=0
                step "$tool-${case// /-}" 200 compute-sanitizer --tool "$tool" --error-exitcode 9 "./$binary" "$case"
                exit $bad
            ) &
            running+=($!)
        done
    }
    sanitize memcheck test_diff_cuda "room g1_msm_naive" "room g2_msm_naive" "room g1_bitsum" encoded_points
    sanitize memcheck test_diff_cuda_prove transforms evaluation_window partition_window
    sanitize racecheck test_diff_cuda "room g1_msm_naive" "room g2_msm_naive" encoded_points
    sanitize racecheck test_diff_cuda_prove transforms evaluation_window
    for case in "${running[@]}"; do wait "$case" || bad=1; done
else
    echo "skip  sanitizer: no compute-sanitizer on this machine"
fi
exit $bad
RUN
    chmod +x "$to/run.sh"
    echo "bundle in $to: $(du -sh "$to" | cut -f1)"
}

if [[ ${1:-} == bundle ]]; then
    bundle "${2:-build}"
    exit
fi
bundle "${1:-build}"
if ! command -v nvidia-smi >/dev/null; then
    echo "gpu-check: no NVIDIA driver here; run build-gpu/run.sh on a machine that has one" >&2
    exit 1
fi
exec build-gpu/run.sh
