# Everything in one command each. `make` alone lists them.
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.installed
APT    := gcc gcc-arm-none-eabi qemu-system-arm clang-19 lld-19 clang-format-19 cppcheck make
JOBS   ?= 2
KERNELS ?= tests/kernels

C_FILES = $(shell git ls-files '*.c' '*.h')

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-kernels check bench bench-costs bench-m0p size format clean

help: ## list what can be made
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1\t\2/' | expand -t 21

setup: $(STAMP) ## install Debian packages (as root or with sudo) and the Python environment .venv

$(STAMP): pyproject.toml constraints.txt tools/apt-install
	tools/apt-install $(APT)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --no-input -c constraints.txt -e '.[torch,zig,demo,dev]'
	touch $@

demo: $(STAMP) ## train a small net on digits, compile it for three chips, compare their answers
	$(PY) examples/digits/demo.py

test: $(STAMP) ## all tests: kernels under sanitizers, whole nets on six emulated boards
	$(PY) -m pytest -n $(JOBS) --dist worksteal tests

test-kernels: $(STAMP) ## the kernels' tests with 1,000 random geometries each; KERNELS=tests/kernels/test_add.py for some
	RUSHLIGHT_GEOMETRIES=1000 $(PY) -m pytest -n $(JOBS) --dist worksteal $(KERNELS)

check: $(STAMP) ## ruff, mypy, clang-format, cppcheck
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	@clang-format-19 --dry-run -Werror $(C_FILES)
	cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr \
	    --enable=warning,performance,portability \
	    -I src/rushlight/device/include -I src/rushlight/device/kernels src/rushlight/device

bench: $(STAMP) ## count instructions of every layer beside CMSIS-NN's, on six cores; BENCH="--net KWS --core m4" for some
	$(PY) -m bench $(BENCH)

bench-costs: $(STAMP) ## measure and fit what kernels cost anew, for the estimates of reports
	$(PY) -m bench.costs --update

bench-m0p: $(STAMP) ## check the Cortex-M0+ cycle estimates against rp2040js, which npm fetches
	$(PY) -m bench.m0p

size: $(STAMP) ## bytes of code of each kernel and of each net's kernels, beside CMSIS-NN's
	$(PY) -m bench.size

format: $(STAMP) ## write Python and C in the project's style
	$(VENV)/bin/ruff format .
	clang-format-19 -i $(C_FILES)

clean: ## remove what was built here (the environment in .venv stays)
	rm -rf build
