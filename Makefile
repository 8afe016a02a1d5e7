# Two commands: `make demo` and `make test`. Both install what is missing, then build.
BUILD ?= build
PREFIX ?= /usr/local
CMAKE_ARGS ?=
TEST ?= .
ROBOTS ?=

.PHONY: site dist deb test-debian all programs configure deps demo test test-asan test-bits test-long fuzz-viewer test-browser bench bench-glance bench-watch bench-ode bench-solvers bench-robots bench-iftomm bench-wholebody install docs viewer gallery python octave format check-rooms check-tree clean
.PHONY: test-faults fuzz bullet bench-collision engines papers test-watch test-outside
.PHONY: test-outputs exam lint test-arm64 test-fresh test-cluster coverage mutate soak bench-grasp

all: configure
	@cmake --build $(BUILD)

# the command alone, without tests and examples
programs: configure
	@cmake --build $(BUILD) --target programs

# CFLAGS, CPPFLAGS and LDFLAGS are taken up when a build directory is configured for the first time
configure: deps
	@cmake -S . -B $(BUILD) -G Ninja $(CMAKE_ARGS) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@mv $(BUILD).log $(BUILD)/configure.log

deps:
	@scripts/install-deps

demo: programs
	@scripts/demo $(BUILD)/moreau

test: all check-rooms check-tree
	@scripts/run-tests $(BUILD) "$(TEST)"

test-asan:
	@$(MAKE) --no-print-directory test BUILD=build-asan CMAKE_ARGS="-DMOREAU_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug -DMOREAU_WERROR=ON" TEST="$(TEST)"

# the golden hashes with gcc -O0 and -O2, clang, plain kernels, other variants of the C library and more threads
test-bits: all
	@scripts/test-bits $(BUILD)

test-long: all
	@MOREAU_LONG=1 scripts/run-tests $(BUILD) "$(TEST)"
	@MOREAU_LONG=1 $(MAKE) --no-print-directory test-asan TEST=test_drawn_scenes
	@$(MAKE) --no-print-directory test-faults MOST=200
	@$(MAKE) --no-print-directory test-outputs
	@$(MAKE) --no-print-directory fuzz T=300
	@$(MAKE) --no-print-directory fuzz-viewer
	@$(MAKE) --no-print-directory test-watch
	@$(MAKE) --no-print-directory test-outside

# the same sweep with jobs, shards, Slurm and MPI, after kills and a full disk (installs Slurm and Open MPI; needs root)
test-cluster: all
	@scripts/test-cluster $(BUILD)

# a hundred experiments with known answers, by the default methods; writes docs/results/exam.md
exam: all
	@MOREAU_EXAM=docs/results/exam.md $(BUILD)/tests test_exam

# every allocation, write, sync, read ... of every command fails once (hours; MOST=N: at most N of a kind)
MOST ?= 0
test-faults: all
	@scripts/test-faults $(BUILD) --most $(MOST)

# every output option of every command into files, links, pipes, devices, full disks; small memory; signals
test-outputs: all
	@scripts/test-outputs $(BUILD)

# memory and cost of long runs: a stack, a live view, a comparison; M minutes each
M ?= 5
soak: all
	@scripts/soak $(BUILD) --minutes $(M)

# lines and branches that the tests reach, per room; begun again, it goes on where it was
coverage: deps
	@scripts/coverage

# of COUNT random changes of operators in problem, solver and formulation, how many do the tests find?
COUNT ?= 100
mutate: deps
	@scripts/mutate $(COUNT)

# libFuzzer on every reader, T seconds each (clang)
T ?= 60
fuzz: deps
	@scripts/fuzz $(T)

# ten minutes of broken HTTP and websocket input to a build with sanitizers; MOREAU_FUZZ_SECONDS changes the time
fuzz-viewer:
	@$(MAKE) --no-print-directory programs BUILD=build-asan CMAKE_ARGS="-DMOREAU_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug -DMOREAU_WERROR=ON"
	@scripts/fuzz-viewer build-asan/moreau

# The viewer in a headless Chromium; installs it and the packages of viewer/
test-browser: all
	@scripts/test-browser $(BUILD)/moreau $(if $(filter-out .,$(TEST)),"$(TEST)")

# viewer/dist/viewer.html from its sources; needs node
viewer:
	@cd viewer && npm ci --ignore-scripts --no-audit --no-fund >/dev/null && npm run --silent build

# The Python package: builds it, installs it into build/python/venv without a network, tests it (bindings/python)
python: deps
	@scripts/install-deps python
	@$(MAKE) --no-print-directory configure
	@cmake --build $(BUILD) --target programs moreau_python moreau_python_lab
	@scripts/build-python $(BUILD)

# The functions for Octave and MATLAB: builds and tests them with Octave (bindings/octave)
octave: deps
	@scripts/install-deps octave
	@$(MAKE) --no-print-directory configure
	@cmake --build $(BUILD) --target programs moreau_octave
	@scripts/build-octave $(BUILD)

# Pictures of docs/gallery.md; needs Chromium
gallery: programs
	@scripts/make-gallery $(BUILD)/moreau

bench: deps
	@scripts/install-deps bench
	@$(MAKE) --no-print-directory all BUILD=build-bench CMAKE_ARGS="-DMOREAU_BENCH=ON -DMOREAU_TESTS=OFF -DMOREAU_EXAMPLES=OFF"
	@scripts/bench build-bench

# What became slower, less accurate or unsolved since the last run; BASE=the command of another build: since that one
bench-watch: all
	@scripts/bench-watch $(BUILD)/moreau $(BASE)

# five engines on ten scenes with known answers: writes docs/results/engines-at-a-glance.md and its pictures
bench-glance: deps
	@scripts/install-deps bench-glance
	@$(MAKE) --no-print-directory configure BUILD=build-bench CMAKE_ARGS="-DMOREAU_BENCH=ON -DMOREAU_TESTS=OFF -DMOREAU_EXAMPLES=OFF"
	@cmake --build build-bench --target bench_glance
	@build-bench/bench/bench_glance -o docs/results/engines-at-a-glance.md -i docs/images
	@scripts/reflow docs/results/engines-at-a-glance.md

# the grasp of the RPIsim paper by Bullet itself: writes docs/results/grasp-bullet.txt, which `make papers` takes up
bench-grasp: deps
	@scripts/install-deps bullet
	@$(MAKE) --no-print-directory configure BUILD=build-bench CMAKE_ARGS="-DMOREAU_BENCH=ON -DMOREAU_TESTS=OFF -DMOREAU_EXAMPLES=OFF"
	@cmake --build build-bench --target bench_grasp
	@build-bench/bench/bench_grasp | tee docs/results/grasp-bullet.txt

# ODE's own problems: its solvers and ours by one judge (docs/results/ode.md, two minutes)
bench-ode: deps
	@scripts/install-deps bench
	@$(MAKE) --no-print-directory all BUILD=build-bench CMAKE_ARGS="-DMOREAU_BENCH=ON -DMOREAU_TESTS=OFF -DMOREAU_EXAMPLES=OFF"
	@build-bench/bench/bench_ode_frames -o ode-frames

# steps of Moreau, ODE, Bullet, MuJoCo and DART as problems, every method on all of them: writes docs/results/engines.md
engines: deps
	@scripts/install-deps engines
	@$(MAKE) --no-print-directory all BUILD=build-bench CMAKE_ARGS="-DMOREAU_BENCH=ON -DMOREAU_TESTS=OFF -DMOREAU_EXAMPLES=OFF"
	@scripts/bench-engines build-bench

# figures and tables of the RPIsim, BPMD and PEG papers: writes docs/results/papers.md (a quarter of an hour of CPU time)
papers: programs
	@scripts/papers-page $(BUILD)/moreau

# does bench-watch find a solver that was made worse, and nothing else? (five minutes of CPU time)
test-watch: programs
	@scripts/test-watch $(BUILD)/moreau

# BPMD files written by hand with h5py, and the errors of every iterate, computed again with numpy; COUNT problems (20)
test-outside: programs
	@scripts/install-deps outside
	@/usr/bin/python3 tests/outside/outside.py $(BUILD)/moreau $(if $(filter-out 100,$(COUNT)),$(COUNT),20)
	@/usr/bin/python3 tests/outside/frames.py $(BUILD)/moreau
	@/usr/bin/python3 tests/outside/rewrites.py $(BUILD)/moreau

# solvers on stored problems beside Siconos, num4lcp's families, scaling: writes docs/results (about half an hour)
bench-solvers: deps
	@scripts/install-deps bench-solvers
	@$(MAKE) --no-print-directory all BUILD=build-bench CMAKE_ARGS="-DMOREAU_BENCH=ON -DMOREAU_TESTS=OFF -DMOREAU_EXAMPLES=OFF"
	@scripts/bench-solvers build-bench

# the collision method `bullet`: installs Bullet and builds the plug-in build/moreau-bullet.so beside the command
bullet:
	@scripts/install-deps bullet
	@$(MAKE) --no-print-directory configure
	@cmake --build $(BUILD) --target programs moreau-bullet

# collision methods on all stock scenes beside Bullet: writes docs/results/collision.md (about five minutes on a quiet machine)
bench-collision: bullet
	@$(BUILD)/moreau compare scenes --collision manifold,features,bullet --frames 8 --scene-limit 1 --quiet \
	 --out docs/results/collision.md

# IFToMM A01 to A05, chains S7 and the pendulum of Fig. 4 (docs/results/iftomm.md), about five minutes
bench-iftomm: deps
	@$(MAKE) --no-print-directory all BUILD=build-bench CMAKE_ARGS="-DMOREAU_BENCH=ON -DMOREAU_TESTS=OFF -DMOREAU_EXAMPLES=OFF"
	@build-bench/bench/bench_mechanisms iftomm chains figure docs/images/pendulum.svg

# forward dynamics of robots beside MuJoCo; ROBOTS: folder of well-known robots, default ../shared/data/robots
bench-robots: deps
	@scripts/install-deps bench-robots
	@$(MAKE) --no-print-directory all BUILD=build-bench CMAKE_ARGS="-DMOREAU_BENCH=ON -DMOREAU_TESTS=OFF -DMOREAU_EXAMPLES=OFF"
	@scripts/bench-robots build-bench $(ROBOTS)

# a humanoid on its feet beside MuJoCo: writes docs/results/wholebody.md
bench-wholebody: deps
	@scripts/install-deps bench-robots
	@$(MAKE) --no-print-directory all BUILD=build-bench CMAKE_ARGS="-DMOREAU_BENCH=ON -DMOREAU_TESTS=OFF -DMOREAU_EXAMPLES=OFF"
	@scripts/bench-wholebody build-bench

# DESTDIR is honoured too
install: configure
	@cmake --build $(BUILD) --target installed
	@cmake --install $(BUILD) --prefix $(PREFIX)
	@scripts/after-install $(PREFIX)

# the documentation as a folder of pages that open from disk, with a search: site/index.html
site:
	@scripts/install-deps site
	@scripts/make-site

# the sources as one archive, moreau-VERSION.tar.gz
dist:
	@version=$$(sed -n 's/^project(moreau VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt) && \
	 git archive --prefix=moreau-$$version/ -o moreau-$$version.tar.gz HEAD && echo moreau-$$version.tar.gz

# Debian packages, beside this folder
deb:
	@scripts/install-deps package
	@dpkg-buildpackage -us -uc -b

# the core cross-built for arm64, run under qemu-user: golden hashes, tests of base, linalg and problem (root, 15 minutes)
test-arm64:
	@scripts/test-arm64

# builds, checks, installs, runs and removes the Debian package (root, five minutes)
test-debian:
	@scripts/test-debian

# README.md line by line on a minimal Debian in a temporary folder, with times (root, six minutes)
test-fresh:
	@scripts/test-fresh

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i
	@git ls-files '*.md' | xargs scripts/reflow

docs: programs
	@scripts/make-docs $(BUILD)/moreau
	@scripts/make-manuals $(BUILD)/moreau

check-rooms:
	@scripts/check-rooms

# static analysis: clang-tidy and cppcheck (four minutes of CPU time); `scripts/lint gcc` adds gcc -fanalyzer
lint: deps
	@scripts/install-deps lint
	@scripts/lint clang-tidy cppcheck

# formatting, conflict markers, copies, dead functions, sizes, comments of headers: scripts/check-tree says it all
check-tree:
	@scripts/install-deps check || echo "check-tree: some tools could not be installed; their checks are skipped"
	@scripts/check-tree

clean:
	rm -rf build build-*
