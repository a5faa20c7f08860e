#!/usr/bin/env bash
# Installs what building and testing cuzk needs, from Debian 12's packages. Says what it installs; does nothing when all is there.
# Works as root and with sudo. --list prints the packages.
set -euo pipefail

# To build and run the product.
product=(gcc g++ cmake ninja-build pkg-config libc6-dev
    libgrpc-dev libprotobuf-c-dev protobuf-c-compiler protobuf-compiler
    libyajl-dev libtoml11-dev libssl-dev zlib1g-dev)
# For make check: the second compiler and its tools, cmocka, and the peer client of the end-to-end tests.
tests=(clang clang-tidy clang-format libclang-rt-14-dev libcmocka-dev python3)
# Node.js comes from Debian unless a node is on the path already (npm is large).
command -v node >/dev/null || tests+=(nodejs)
command -v npm >/dev/null || tests+=(npm)

all=("${product[@]}" "${tests[@]}")
if [[ ${1:-} == --list ]]; then
    printf '%s\n' "${all[@]}"
    exit 0
fi
if ! command -v dpkg-query >/dev/null; then
    echo "bootstrap: this system has no dpkg; install the equivalents of: ${all[*]}" >&2
    exit 1
fi

missing=()
for package in "${all[@]}"; do
    state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
    [[ $state == ii* ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
    exit 0
fi

echo "bootstrap: installing ${missing[*]}"
sudo=()
if ((EUID != 0)); then
    command -v sudo >/dev/null || {
        echo "bootstrap: not root and no sudo; run as root: apt-get install ${missing[*]}" >&2
        exit 1
    }
    sudo=(sudo)
fi
"${sudo[@]}" apt-get update -q
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
