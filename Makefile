# The targets call scripts in tools/. The header of each script says what it does. The default server is that of the pg_config in
# PATH, else the one that apt has. For another server: `make TARGET PG_CONFIG=/path/to/pg_config`, or PG_MAJOR=17 if apt has it.

.PHONY: all build install uninstall setup vendor dist python deb packages rpm image
.PHONY: help run stop check test test-all test-long test-model test-memory audit fuzz bench bench-compare bench-report gen fix clean
.PHONY: pictures release release-check release-notes next-version rehearse-release

comma := ,
# `pg_buildext`, as other makes do, calls this Makefile from another directory.
HERE := $(dir $(firstword $(MAKEFILE_LIST)))

all: build

build: ## Compile for the server of PG_CONFIG=/path/to/pg_config; needs what `make setup` installs
	@$(HERE)tools/build.sh

install: ## Install into that server, below DESTDIR if it is set; builds first if necessary
	@$(HERE)tools/install.sh

uninstall: ## Remove the installed files
	@$(HERE)tools/install.sh remove

setup: ## Install missing build dependencies with apt, as root or through sudo; FOR=test, packages or bench adds more; RUSTUP=yes permits rustup
	@tools/setup.sh $(FOR)

vendor: ## Fetch all crates into ./vendor, so that builds need no network
	@tools/vendor.sh

dist: ## Build the PGXN archive of the last commit: target/dist/scru-VERSION.zip
	@tools/dist.sh

python: ## Build the package for Python of the last commit: target/dist/scru_postgres-VERSION*
	@tools/python.sh

deb: ## Build Debian packages for the server of PG_MAJOR, with debug symbols: target/deb/NN/*.deb
	@tools/deb.sh

packages: ## Build the Debian packages of the last commit in Debian 12, 13, unstable and with experimental's server: target/packages; ONLY=17 selects; as root
	@tools/packages.sh $(subst $(comma), ,$(ONLY))

rpm: ## Build an RPM package of the last commit for the server of PG_CONFIG: target/rpm/NN
	@tools/rpm.sh

image: ## Build a container image of only the extension's files, for image volumes: target/image/NN
	@tools/image.sh

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

run: ## Build, install, start a private server, show a tour of a million rows, and open psql
	@tools/run.sh

stop: ## Stop the private server of `make run`
	@tools/server.sh stop tour

check: ## Build in the dev profile and run the regression and end-to-end tests of ONLY=io, or of several concerns: ONLY=io,time
	@tools/check.sh $(subst $(comma), ,$(ONLY))

test: ## Install missing dependencies, and run every check and test
	@tools/test.sh

test-all: ## Run the server tests on PostgreSQL 16 to 19, which it fetches; as root
	@tools/test-all.sh

test-mark: ## Test the high-water mark with all clock differences and delays of the disk
	@TEST_ALL_CLOCK_DIFFERENCES=1 ALL_DELAYS=1 tools/check.sh mark promotion slow_disk

test-feed: ## Test with ROWS=10000000 rows for each type and scope that a reader of a feed misses nothing; hours
	@SCRU_FEED_ROWS=$(or $(ROWS),10000000) tools/check.sh horizon_load

COST_OF_QUERIES = bash -c 'source tools/lib/env.sh && use_private_copy && tools/install.sh && \
	/usr/bin/python3 -m pytest -m alone tests/e2e/by_time/test_partitions.py tests/e2e/by_time/test_time_of_id.py'

test-long: ## Run the long variants of tests, and all tests in a new Debian 13 without a compiler, in an hour; as root
	@tools/setup.sh long
	@TEST_LONG=1 cargo test --package scru-ids --features encryption --test encryption
	@TEST_LONG=1 tools/check.sh differential owner_load backup_tools guard_load feed_script migrate sanity extension
	@bash -c 'source tools/lib/env.sh && tools/setup.sh servers && for major in "$${MAJORS[@]:1}"; do \
		TEST_ALL=1 TEST_LONG=1 tools/lib/servers.sh run "$$major" tools/check.sh differential; done'
	@TEST_LONG=1 $(COST_OF_QUERIES)
	@TEST_LONG=1 tools/lib/servers.sh run 18 $(COST_OF_QUERIES)
	@TEST_LONG=1 tools/test.sh packages
	@tools/lib/fresh-root.sh trixie 'make run' 'make test'

test-model: ## Explore the worlds of the model, also with each harmless change of the protocol
	@cargo test --package scru-model -- --include-ignored

test-mutants: ## Change the program, one change at a time, and store which test notices it; ONLY=… selects by text, JOBS=… at a time
	@JOBS=$(or $(JOBS),2) tools/mutants.sh stored $(ONLY)

fuzz: ## Fuzz what clients send for TIME=60 seconds per target; keeps inputs that reach new code
	@tools/setup.sh test
	@tools/fuzz.sh $(or $(TIME),60) keep

test-memory: ## Run the regression tests on a server with assertions and under valgrind; builds that server first
	@TESTS='$(TESTS)' tools/test-memory.sh

audit: ## Check the licenses, sources and known vulnerabilities of all crates, and META.json
	@tools/audit.sh

bench: ## Compare the types with uuid and bigint, in an hour; MODE=short: 5 minutes, long: 100 million rows; ONLY=… selects suites
	@tools/bench.sh run $(if $(MODE),--mode=$(MODE)) $(if $(ONLY),--only $(subst $(comma), ,$(ONLY)))
	@tools/bench.sh report

bench-compare: ## Compare the speed of this tree with that of BASE=<commit>; ONLY=… selects workloads, ROUNDS=… sets the rounds
	@tools/bench-compare.sh $(or $(BASE),HEAD) $(if $(ROUNDS),--rounds=$(ROUNDS)) $(if $(ONLY),--only $(subst $(comma), ,$(ONLY)))

bench-report: ## Render docs/bench/*.md, and the README's tables and their picture, from docs/bench/*.json
	@tools/bench.sh report

pictures: ## Draw docs/pictures from the test vectors, the measurements and tools/lib/pictures.py
	@/usr/bin/python3 tools/lib/pictures.py

gen: ## Render sql/install and docs/reference from sql/*.in
	@tools/gen.sh

fix: ## Format Rust, Python, shell scripts and Markdown, and apply ruff's fixes
	@cargo fmt --all
	@tools/lint.sh fix

release: ## Write the values of RELEASING.md into the files, and freeze the SQL, the layouts and the public names, from which upgrades will start
	@tools/release.sh

release-check: ## Check that the last commit is the release of TAG=vX.Y.Z, or of its own tag
	@tools/release.sh ready $(TAG)

release-notes: ## Print this version's section of the changelog, with absolute links
	@/usr/bin/python3 tools/lib/release.py notes

next-version: ## Begin the version of VERSION=X.Y.Z, with upgrade scripts that change nothing
	@tools/release.sh next $(VERSION)

rehearse-release: ## Make three versions in a copy, upgrade a server, and plant mistakes that have to be found
	@tools/setup.sh test
	@tools/lib/next-version.sh rehearse

clean: ## Stop and remove all private servers, and remove all build output
	@tools/server.sh remove
	@cargo clean
