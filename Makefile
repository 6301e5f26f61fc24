# Two commands do all set-up on a bare machine (Python 3.11+, a C++20 compiler, a package index):
#   make demo    trains every model on data that scikit-learn ships
#   make test    passes the tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
NATIVE := $(sort $(shell find cpp -name "*.[ch]pp"))
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

# Threads that wait for each other need the cores to themselves.
THREADED := $(wildcard tests/test_async*.py)

# Those that do nothing, or little, without torch.
DEVICES := $(addprefix tests/test_,$(addsuffix .py,callables_on_devices device_hinges device_memory device_scores devices \
  linear_devices proximal_newton side_by_side tensors))

.PHONY: demo test test-all test-isa test-arm core-test docs lint format sanitize sanitize-gpu bench campaign experiments-quick clean
.PHONY: test-peers test-gcc test-clang test-systems test-oldest test-python test-torch compilers wine wheel wheels coverage release-check publish release-page

demo: $(VENV)/demo
	@$(BIN)/python -m ordsvm.demo

test: $(VENV)/test core-test
	$(BIN)/python -m pytest -n 2 -m "not slow" $(THREADED:%=--ignore=%)
	$(BIN)/python -m pytest -m "not slow" $(THREADED)

# The C++ core's own tests as they are compiled for use, whichever instruction set this machine has.
core-test: $(VENV)/cmake
	@mkdir -p build
	@$(BIN)/cmake -S . -B build/core -DCMAKE_BUILD_TYPE=Release -DCMAKE_COMPILE_WARNING_AS_ERROR=$(if $(CI),ON,OFF) \
	    > build/core.log 2>&1 \
	  && $(BIN)/cmake --build build/core -j 2 >> build/core.log 2>&1 || (cat build/core.log; exit 1)
	@build/core/core_tests

test-all: $(VENV)/test $(VENV)/bench $(VENV)/docs core-test test-isa test-arm experiments-quick
	$(BIN)/python -m pytest

# The core's tests and random problems with dispatch limited to narrower vectors than this machine has, and a search for
# functions that files of different instruction sets share: as they are compiled for use, and those of the core without
# optimisation and with flags for this processor, which must change nothing.
test-isa: $(VENV)/test core-test
	$(BIN)/python tools/shared_symbols.py build/core
	$(BIN)/cmake -S . -B build/unoptimised "-DCMAKE_CXX_FLAGS=-O0 -w -march=native" > build/unoptimised.log
	$(BIN)/cmake --build build/unoptimised --target ordsvm_core -j 2 >> build/unoptimised.log
	$(BIN)/python tools/shared_symbols.py --own build/unoptimised
	for set in $$(build/core/core_tests --sets | sed '$$d'); do ORDSVM_ISA=$$set build/core/core_tests || exit 1; done
	$(BIN)/python -m pytest tests/test_instruction_sets.py

# The core for 64-bit ARM: its tests under an emulator, and the instructions of its hot loops counted.
ARM := aarch64-linux-gnu
test-arm: $(VENV)/cmake
	@command -v $(ARM)-g++ > /dev/null && command -v qemu-aarch64 > /dev/null \
	  || { echo "make test-arm needs a cross compiler and an emulator; on Debian: apt-get install g++-$(ARM) qemu-user"; exit 1; }
	$(BIN)/cmake -S . -B build/arm -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
	  -DCMAKE_CXX_COMPILER=$(ARM)-g++
	$(BIN)/cmake --build build/arm -j 2
	$(BIN)/python tools/hot_loops.py build/arm
	qemu-aarch64 -L /usr/$(ARM) build/arm/core_tests

# The core's tests by other compilers, whichever of these are found; warnings are errors.
GCCS ?= g++-11 g++-12 g++-13 g++-14 g++-15 g++-16
CLANGS ?= clang++-15 clang++-16 clang++-17 clang++-18 clang++-19 clang++-20 clang++-21 clang++-22
test-gcc: $(VENV)/cmake
	$(BIN)/python tools/compilers.py --cmake $(BIN)/cmake $(GCCS)

test-clang: $(VENV)/cmake
	$(BIN)/python tools/compilers.py --cmake $(BIN)/cmake $(CLANGS:%=%:libstdc++) $(CLANGS:%=%:libc++)

# The core's tests compiled for Windows and macOS by the clang of the package ziglang; the former run where wine is found.
test-systems: $(VENV)/cmake
	$(PIP) install ziglang
	$(BIN)/python tools/systems.py --cmake $(BIN)/cmake

# Debian's and Ubuntu's packages of some of these, and of what runs programs for Windows.
compilers:
	sudo apt-get update && sudo apt-get install -y g++-11 clang-15 libc++-15-dev libc++abi-15-dev

wine:
	sudo apt-get update && sudo apt-get install -y wine

# The tests with the oldest versions that pyproject.toml allows, and with other Pythons, each in an environment of its own.
test-oldest:
	PIP_CONSTRAINT=$(CURDIR)/tests/oldest.txt PIP_BUILD_CONSTRAINT=$(CURDIR)/tests/oldest_build.txt $(MAKE) VENV=.venv-oldest .venv-oldest/test
	.venv-oldest/bin/python -m pytest -n 2 -m "not slow" $(THREADED:%=--ignore=%)

PYTHONS ?= 3.11 3.12 3.13 3.14
test-python:
	@tested=; for version in $(PYTHONS); do \
	  if python$$version -c "" 2> /dev/null; then tested="$$tested $$version"; \
	    $(MAKE) PYTHON=python$$version VENV=.venv-$$version .venv-$$version/test && \
	    .venv-$$version/bin/python -m pytest -n 2 -m "not slow" $(THREADED:%=--ignore=%) || exit 1; \
	  else echo "Python $$version was not found"; fi; done; \
	echo "passed:$$tested"; test -n "$$tested"

# The tests of devices on torch's CPU, the slow ones too; then Triton's kernels by its interpreter, which take minutes.
test-torch: $(VENV)/test
	$(PIP) install torch triton
	$(BIN)/python -m pytest $(DEVICES)
	TRITON_INTERPRET=1 $(BIN)/python -m pytest -n 2 tests/test_fused.py tests/test_fused_stacks.py

# A wheel, checked, and used where there is no compiler; the wheels of a release, for the system this runs on.
WHEEL_PYTHON ?= $(PYTHON)
wheel: $(VENV)/wheel
	$(BIN)/python tools/wheel.py --python $(WHEEL_PYTHON)

wheels: $(VENV)/created
	$(PIP) install "cibuildwheel>=3"
	$(BIN)/python -m cibuildwheel --output-dir dist

# What a release needs: an address, a version, its notes. Then what is in dist goes to the package index, from a workflow
# that the index trusts.
release-check:
	$(PYTHON) tools/release.py --tag "$$TAG"

publish: release-check $(VENV)/wheel
	$(BIN)/python tools/wheel.py --check
	$(BIN)/twine upload --skip-existing dist/*.whl dist/*.tar.gz

# The release's page in the repository, from whose source archive the recipe for conda builds.
release-page: release-check
	gh release create "$$TAG" dist/*.tar.gz --verify-tag --title "$$TAG" --notes "The changes are in CHANGELOG.md."

# Lines and branches of Python and of the core that the tests run, in build/coverage; it takes about half an hour.
coverage: $(VENV)/test $(VENV)/coverage $(VENV)/cmake
	$(BIN)/python tools/measure_coverage.py

# make bench lists the benchmarks, make bench NAME=smo-speed runs one.
bench: $(VENV)/bench
	$(BIN)/python -m benchmarks $(NAME)

# A small version of every table and figure of the papers; python -m experiments lists them.
experiments-quick: $(VENV)/bench
	$(BIN)/python -m experiments --quick

# scikit-learn's own tests of SVC and GridSearchCV with classes of this library in their place, failures by kind. LIST=svm
# prints a suite's list of failures as it ought to be. Without these tests, or with other ones, a sentence says why not.
test-peers: $(VENV)/test
	$(BIN)/python -m benchmarks peer-tests $(LIST:%=--list %) || test $$? -eq 2

# Random problems over all estimators and solvers, judged by an independent program; RESUME=1 goes on with a seed,
# KINDS="malformed search" tries problems of these kinds only (benchmarks/campaign/kinds).
PROBLEMS ?= 10000
JOBS ?= 2
TIME_LIMIT ?= 2
campaign: $(VENV)/test
	$(BIN)/python -m benchmarks campaign --problems $(PROBLEMS) --jobs $(JOBS) --time-limit $(TIME_LIMIT) \
	  $(SEED:%=--seed %) $(RESUME:%=--resume) $(if $(KINDS),--kinds $(KINDS))

# The manual, in docs/_build/html; warnings are errors, and nothing is fetched from the network. GALLERY=0 leaves the
# examples of the gallery unrun, for a quick look.
GALLERY ?= 1
docs: $(VENV)/docs
	GALLERY=$(GALLERY) $(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	@echo "docs/_build/html/index.html"

# Style, types, directions of imports and includes, words of the glossary. Docstrings are looked at by make test.
lint: $(VENV)/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports --no-cache
	$(BIN)/python tools/include_graph.py
	$(BIN)/python tools/forbidden_words.py
	$(BIN)/clang-format --dry-run --Werror $(NATIVE) $(wildcard tests/cpp/*)

format: $(VENV)/lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE) $(wildcard tests/cpp/*)

# Triton's kernels under compute-sanitizer, on a machine with a GPU; PYTHON has torch and the package.
sanitize-gpu:
	for tool in memcheck racecheck; do compute-sanitizer --tool $$tool --error-exitcode 1 $(PYTHON) -m pytest -q -m slow \
	  tests/test_fused.py tests/test_fused_stacks.py -k "not fits" || exit 1; done

# The C++ core's own tests, without Python, under the sanitizers, with the hot loops of every instruction set that this
# processor has, or those that SETS names.
SETS ?=
SANITIZED = for set in $(or $(SETS),$$($(1)/core_tests --sets)); do \
  ORDSVM_ISA=$$set $(BIN)/ctest --test-dir $(1) --output-on-failure || exit 1; done
sanitize: $(VENV)/cmake
	$(BIN)/cmake -S . -B build/asan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DORDSVM_SANITIZE=address,undefined
	$(BIN)/cmake --build build/asan -j 2
	$(call SANITIZED,build/asan)
	$(BIN)/cmake -S . -B build/tsan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DORDSVM_SANITIZE=thread
	$(BIN)/cmake --build build/tsan -j 2
	$(call SANITIZED,build/tsan)

clean:
	rm -rf build dist docs/_build docs/gallery docs/api $(VENV) .venv-* .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Stamps: what has been installed into the virtual environment.
$(VENV)/created:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	@touch $@

# One editable install per purpose; it builds the core anew where a source of it has changed.
$(VENV)/demo $(VENV)/test $(VENV)/bench $(VENV)/docs: $(VENV)/created pyproject.toml CMakeLists.txt $(NATIVE)
	$(PIP) install -e ".[$(@F)]"
	@touch $@

# Tools that check the sources, beside what the tests need: the core is not built for them again.
$(VENV)/lint $(VENV)/coverage: $(VENV)/test
	$(PIP) install --group $(@F)
	@touch $@

$(VENV)/wheel: $(VENV)/created
	$(PIP) install --group wheel
	@touch $@

$(VENV)/cmake: $(VENV)/created
	$(PIP) install cmake
	@touch $@
