#!/usr/bin/env bash
# Installs what building and testing cuzk needs, from Debian 12's packages. Says what it installs; does nothing when all is there.
# Works as root and with sudo. --list prints the packages. --cuda puts NVIDIA's compiler into build-nvcc/venv, from PyPI.
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
if [[ ${1:-} == --cuda ]]; then
    # The compiler alone: no driver, and no GPU is needed to build. One minor version for all, since they must match.
    venv=$(dirname "$0")/../build-nvcc/venv
    [[ -x $venv/bin/pip ]] || python3 -m venv "$venv" || {
        echo "bootstrap: python3 cannot make a venv; install python3-venv" >&2
        exit 1
    }
    "$venv/bin/pip" install -q --disable-pip-version-check nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 \
        nvidia-nvvm==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85
    echo "bootstrap: $(ls -d "$venv"/lib/python3*/site-packages/nvidia/cu13/bin/nvcc)"
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
