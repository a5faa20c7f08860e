#!/usr/bin/env bash
# All checks: GCC and Clang builds, lint, unit tests under ASan+UBSan, then every test; ends with CTest's own summary.
# --long adds what needs more than a few minutes. CZ_JOBS sets the number of parallel jobs.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${CZ_JOBS:-$(nproc)}
long=OFF
[[ ${1:-} == --long ]] && long=ON

step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }
configure() { # folder, cmake arguments …
    local folder=$1
    shift
    mkdir -p "$folder"
    cmake -G Ninja -S . -B "$folder" "$@" >"$folder/configure.log" 2>&1 || {
        cat "$folder/configure.log"
        exit 1
    }
}
build() { # folder, targets …
    local folder=$1
    shift
    cmake --build "$folder" -j "$jobs" ${1:+--target "$@"} >"$folder/build.log" 2>&1 || {
        grep -v '^\[[0-9]*/[0-9]*\] \(Building\|Linking\|Generating\)' "$folder/build.log" || cat "$folder/build.log"
        exit 1
    }
}

step "build with GCC"
configure build -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DCZ_LONG_TESTS=$long
# Whether the kernels and unit/compute/cuda_faults are among what is built and run.
sed -n 's/^-- CUDA: no nvcc found;/CUDA: skipped, kernels and unit\/compute\/cuda_faults: no nvcc;/p; s/^-- \(CUDA: .*\)/\1/p' build/configure.log
build build

step "build with Clang"
configure build-clang -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++
build build-clang

step "lint: layers, format, clang-tidy, generated constants"
scripts/lint.sh build-clang

step "unit tests and fuzz corpora under ASan and UBSan"
configure build-asan -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Release \
    -DCZ_SANITIZE=address,undefined
build build-asan
ctest --test-dir build-asan -L 'unit|fuzz' -j "$jobs" --output-on-failure --timeout 600 | tail -n 25

step "all tests"
ctest --test-dir build -j "$jobs" --output-on-failure
