# A thin front: every target is a script or a CMake preset-like call that you can run by itself.
BUILD ?= build
JOBS  ?= $(shell nproc)

.PHONY: all build release bootstrap demo check check-long bench bench-peers format lint clean

all: build

bootstrap:
	@scripts/bootstrap.sh

build: bootstrap
	@cmake -G Ninja -S . -B $(BUILD) >$(BUILD)-cmake.log 2>&1 || { cat $(BUILD)-cmake.log; exit 1; }
	@grep '^-- CUDA' $(BUILD)-cmake.log; rm -f $(BUILD)-cmake.log
	@cmake --build $(BUILD) -j $(JOBS)

# What packages carry: kernels for every card from sm_75 to sm_120, and PTX for later ones. Some nine minutes on one core.
release: bootstrap
	@cmake -G Ninja -S . -B build-release -DCZ_CUDA_ARCH=release >build-release.log 2>&1 || { cat build-release.log; exit 1; }
	@grep CUDA build-release.log; rm -f build-release.log
	@cmake --build build-release -j $(JOBS)

demo: bootstrap
	@scripts/demo.sh

check: bootstrap
	@scripts/check.sh

check-long: bootstrap
	@scripts/check.sh --long

bench: build
	@scripts/bench.sh

bench-peers: build
	@scripts/bench.sh --peers

format:
	@git ls-files '*.c' '*.h' '*.cpp' | xargs clang-format -i

lint: build
	@scripts/lint.sh $(BUILD)

clean:
	rm -rf build build-release build-clang build-asan build-fuzz
