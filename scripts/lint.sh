#!/usr/bin/env bash
# lint.sh BUILD: layers of every #include, format, generated constants, clang-tidy over the compile commands of BUILD.
# Banned functions are compile errors by themselves (src/base/banned.h).
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: lint.sh BUILD_FOLDER}
python3 scripts/check_layers.py
git ls-files '*.c' '*.h' '*.cpp' | xargs clang-format --dry-run -Werror
python3 scripts/gen_poseidon.py --check
for folder in curve field; do
    python3 "src/$folder/constants.py" | clang-format --assume-filename="src/$folder/constants.h" | cmp - "src/$folder/constants.h" || {
        echo "src/$folder/constants.h is not what constants.py makes" >&2
        exit 1
    }
done
# The C files of src that this build compiles: those of the CUDA device need its headers.
mapfile -t files < <(git ls-files 'src/*.c' | while read -r f; do grep -q "/$f\"" "$build/compile_commands.json" && echo "$f"; done)
((${#files[@]} > 50)) || { echo "lint: only ${#files[@]} files in $build/compile_commands.json" >&2; exit 1; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 1 clang-tidy -p "$build" --quiet 2>"$log" || {
    cat "$log"
    exit 1
}
