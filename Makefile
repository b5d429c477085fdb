# The whole of it:  make demo  (a picture, filtered; a scan; a training)    make test  (all tests)
#               make bench  make soak
# BUILD and PRESET choose another tree: make test PRESET=asan BUILD=build-asan

PRESET ?= release
BUILD ?= build
CMAKE := .venv/bin/cmake
CTEST := .venv/bin/ctest
JOBS ?= $(shell nproc)

.PHONY: all setup build demo test soak bench bench-peers docs clean

all: build

setup:
	@./setup.sh

build: setup
	@[ -f $(BUILD)/build.ninja ] || $(CMAKE) --preset $(PRESET) -B $(BUILD)
	@$(CMAKE) --build $(BUILD) -j $(JOBS)

demo: build
	$(BUILD)/bin/filter --output $(BUILD)/filter.png
	$(BUILD)/bin/pointcloud --output $(BUILD)/cloud.png
	$(BUILD)/bin/train --history $(BUILD)/training.json --output $(BUILD)/training.png

test: build
	$(CTEST) --test-dir $(BUILD) -j $(JOBS) --output-on-failure

# A few minutes of training, with the memory counted.
soak: build
	$(BUILD)/bin/train_soak --steps 100000

bench-peers: setup
	.venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements-peers.txt

bench: bench-peers
	$(CMAKE) --preset $(PRESET) -B $(BUILD)
	@$(CMAKE) --build $(BUILD) -j $(JOBS)
	.venv/bin/python apps/bench/report.py --bench $(BUILD)/bin/bench --before docs/tuning.json \
		--output docs/performance.md

docs: build
	.venv/bin/python compiler/write_docs.py $(BUILD)/kernels .

clean:
	rm -rf build build-*
