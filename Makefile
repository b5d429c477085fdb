# In short:  make demo  (a picture, filtered; a scan; a training)    make test  (all tests)
#               make bench  make soak  make fuzz  make fuzz-readers  make mutants  make test-orders
# After a change of a schedule:  make explore ARGS="run conv2d 56x56_64-64_3x3"
# PRESET chooses another kind of build, BUILD another tree: make test PRESET=asan

PRESET ?= release
BUILD ?= $(if $(filter release,$(PRESET)),build,build-$(PRESET))
CMAKE := .venv/bin/cmake
CTEST := .venv/bin/ctest
JOBS ?= $(shell nproc)

.PHONY: all setup kernels configure build demo explore test test-orders soak fuzz fuzz-readers mutants bench bench-peers \
	gpu-bundle frameworks wheel wheel-test docs clean

all: build

setup:
	@./setup.sh

# Builds with sanitizers take the kernels of the release.
kernels: setup
ifneq ($(filter asan tsan,$(PRESET)),)
	@[ -f build/build.ninja ] || $(CMAKE) --preset release -B build
	@$(CMAKE) --build build --target hk_kernels -j $(JOBS)
endif

# Two builds of one tree at once, or one that was killed, leave a torn log of dependencies, from which ninja 1.13
# compiles everything again each time (ninja-build/ninja#2703) unless it is written anew.
configure: kernels
	@[ -f $(BUILD)/build.ninja ] || $(CMAKE) --preset $(PRESET) -B $(BUILD)
	@[ ! -f $(BUILD)/.ninja_deps ] || .venv/bin/ninja -C $(BUILD) -t recompact >/dev/null

build: configure
	@$(CMAKE) --build $(BUILD) -j $(JOBS)

# Each program is built when it is its turn: the first picture is there before the next compiles.
demo: configure
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target filter
	$(BUILD)/bin/filter --output $(BUILD)/filter.png
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target pointcloud
	$(BUILD)/bin/pointcloud --output $(BUILD)/cloud.png
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target train
	$(BUILD)/bin/train --history $(BUILD)/training.json --output $(BUILD)/training.png

# The explorer and what it needs, no kernel.
explore: configure
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target explorer
	$(BUILD)/bin/explorer $(ARGS)

test: build
	$(CTEST) --test-dir $(BUILD) -j $(JOBS) --output-on-failure

# CUDA kernels with blocks, and the threads of each, in other orders than `make test` has: docs/software-cuda.md. The
# tests are those that are run on a GPU.
CUDA_TESTS = $(shell sed -n "s/^tests='\(.*\)'$$/\1/p" apps/gpu_bundle/run.sh)
ORDERS ?= descending random:1 random:2
test-orders: build
	@for order in $(ORDERS); do \
		echo "SOFTWARE_CUDA_ORDER=$$order"; \
		SOFTWARE_CUDA_ORDER=$$order OCL_ICD_VENDORS=none GTEST_FILTER='$(CUDA_TESTS)' \
			$(CTEST) --test-dir $(BUILD) -R _kernels_test -j $(JOBS) --output-on-failure || exit 1; \
	done

# Readers of files, of PTX and of DLPack under libFuzzer, each for so many seconds. Needs clang++.
FUZZ_SECONDS ?= 60
fuzz-readers: build
	$(CMAKE) --build $(BUILD) --target fuzz_readers
	@for reader in $$(ls tests/fuzz/readers/corpus); do \
		mkdir -p $(BUILD)/fuzz/$$reader && \
		$(BUILD)/tests/fuzz_readers --reader=$$reader -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1536 \
			-malloc_limit_mb=1024 -artifact_prefix=$(BUILD)/fuzz/$$reader- $(BUILD)/fuzz/$$reader \
			tests/fuzz/readers/corpus/$$reader || exit 1; \
	done

# A few minutes of training, with the memory counted.
soak: build
	$(BUILD)/bin/train_soak --steps 100000

# A million valid calls and a million hostile ones, less with sanitizers: docs/fuzzing.md.
fuzz: configure
	@$(CMAKE) --build $(BUILD) --target fuzz hk_python -j $(JOBS)
	$(CTEST) --test-dir $(BUILD) -C fuzz -L fuzz -j $(JOBS) --output-on-failure

# CUDA kernels with a barrier, comparison or clamp left out, which tests must find: docs/software-cuda.md.
mutants: configure
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target mutants

# A folder for a machine with a GPU: checks of all CUDA kernels there, and measurements.
gpu-bundle: setup
	@[ -f build-gpu/build.ninja ] || $(CMAKE) --preset gpu -B build-gpu
	@$(CMAKE) --build build-gpu -j $(JOBS) --target gpu_bundle
	@du -sh build/gpu-bundle

bench-peers: setup
	.venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements-peers.txt

bench: bench-peers
	$(CMAKE) --preset $(PRESET) -B $(BUILD)
	@$(CMAKE) --build $(BUILD) -j $(JOBS)
	.venv/bin/python apps/bench/report.py --bench $(BUILD)/bin/bench --repository .

# PyTorch for the tests of halide_kernels.torch, which `make test` runs where it can be imported.
frameworks: setup
	.venv/bin/python python/install_torch.py requirements-frameworks.txt

# The Python package for any x86-64 with Linux, in dist/: kernels of the portable preset.
wheel: setup
	rm -rf build-wheel-portable/dist
	.venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
		-C build-dir=build-wheel-portable -C cmake.define.HK_PORTABLE=ON -w build-wheel-portable/dist .
	.venv/bin/python python/finish_wheel.py build-wheel-portable/dist dist

# The wheel in an environment that has nothing else.
wheel-test: wheel
	.venv/bin/python python/try_wheel.py dist tests/python

docs: build
	$(BUILD)/bin/bench --selection docs/selection.md
	$(BUILD)/bin/counts --output $(BUILD)/counts.json
	.venv/bin/python compiler/write_docs.py $(BUILD)/kernels $(BUILD)/counts.json .
	.venv/bin/python tests/readme/operations_table.py $(BUILD)/tests/readme_operations README.md
	.venv/bin/python apps/bench/report.py --repository .
	.venv/bin/python tests/onnx/node_tests.py --write $(BUILD)/tests/onnx_calls docs/onnx.md

clean:
	rm -rf build build-* dist
