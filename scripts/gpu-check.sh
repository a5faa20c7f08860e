#!/usr/bin/env bash
# Tests and measures the CUDA device. Three steps, so that build machine and GPU machine can be two:
#   gpu-check.sh bundle [BUILD]   puts what a run needs into build-gpu/ (needs nvcc, no GPU); BUILD: a build folder, default build
#   build-gpu/run.sh [OUT]        on the GPU machine, from any folder: tests, sanitizer, benchmarks; logs to OUT; no installs
#   gpu-check.sh [BUILD]          both, here
set -euo pipefail
cd "$(dirname "$0")/.."

bundle() {
    local build=$1 to=build-gpu
    cmake --build "$build" --target test_diff_cuda test_diff_cuda_prove bench_cuda bench_cuda_prove >/dev/null
    mkdir -p "$to"
    cp "$build"/tests/test_diff_cuda{,_prove} "$build"/bin/bench_cuda{,_prove} "$to/"
    # cmocka is the one library that a GPU machine may lack.
    cp -L "$(ldd "$to/test_diff_cuda" | awk '/libcmocka/ {print $3}')" "$to/"
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
        echo "ok    $name: $(grep -E 'PASSED|ERROR SUMMARY|RACECHECK SUMMARY' "$out/$name.log" | tail -1)"
    else
        echo "FAIL  $name (status $?)"
        tail -15 "$out/$name.log"
        bad=1
    fi
}
nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,power.limit --format=csv,noheader
step tests 200 ./test_diff_cuda
step prove 300 ./test_diff_cuda_prove
if command -v compute-sanitizer >/dev/null; then
    # Small cases: the sanitizer slows kernels down a hundredfold.
    for case in "room g1_msm_naive" "room g2_msm_naive" "room g1_bitsum" encoded_points; do
        step "memcheck-${case// /-}" 120 compute-sanitizer --tool memcheck --error-exitcode 9 ./test_diff_cuda "$case"
    done
    for case in "room g1_msm_naive" "room g2_msm_naive" encoded_points; do
        step "racecheck-${case// /-}" 120 compute-sanitizer --tool racecheck --error-exitcode 9 ./test_diff_cuda "$case"
    done
else
    echo "skip  sanitizer: no compute-sanitizer on this machine"
fi
timeout 200 ./bench_cuda | tee "$out/bench.log"
((PIPESTATUS[0] == 0)) || bad=1
timeout 200 ./bench_cuda_prove | tee "$out/bench-prove.log"
((PIPESTATUS[0] == 0)) || bad=1
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
