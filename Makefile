# The front door: every target is one script under tools/, and each of these says what it does and why.
# Another server than Debian's 15: `make TARGET PG_CONFIG=/path/to/pg_config`, or PG_MAJOR=17 where apt has that one.

.PHONY: all build install uninstall setup vendor dist deb image
.PHONY: help run stop test test-all test-memory audit fuzz bench bench-compare bench-report gen fix release clean

comma := ,

all: build

build: ## Compile for the server of PG_CONFIG=/path/to/pg_config: needs Rust, libclang and the server's headers
	@tools/build.sh

install: ## Copy what is built into that server, below DESTDIR if that is set; builds first if need be
	@tools/install.sh

uninstall: ## Remove it from there
	@tools/install.sh remove

setup: ## Install through apt what a build lacks, as root or by sudo: FOR=test, packages or bench for more
	@tools/setup.sh $(FOR)

vendor: ## Fetch all crates into ./vendor, from which builds then take them, without a network
	@tools/vendor.sh

dist: ## The archive of the last commit that PGXN distributes: target/dist/scru-VERSION.zip
	@tools/dist.sh

deb: ## Debian packages for the server of PG_MAJOR, and of their debug symbols: target/deb/NN/*.deb
	@tools/deb.sh

image: ## A container image of the extension's files alone, for image volumes: target/image/NN
	@tools/image.sh

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

run: ## Set up, build, install, start a private server, tour a million rows; then psql
	@tools/run.sh

stop: ## Stop that private server
	@tools/server.sh stop tour

test: ## Set up and run every check and test
	@tools/test.sh

test-all: ## As root: the same on PostgreSQL 16 to 19, which it fetches
	@tools/test-all.sh

fuzz: ## Fuzz what can be sent to each type: TIME=60 seconds a target; keeps what reached new code
	@tools/setup.sh test
	@tools/fuzz.sh $(or $(TIME),60) keep

test-memory: ## Regression tests on a server with assertions, and under valgrind; builds that server first
	@TESTS='$(TESTS)' tools/test-memory.sh

audit: ## Licences, sources and known vulnerabilities of all crates
	@tools/audit.sh

bench: ## Measure it against uuid and bigint, within an hour: MODE=short within 5 minutes, MODE=long for 100 million rows; ONLY=…
	@tools/bench.sh run $(if $(MODE),--mode=$(MODE)) $(if $(ONLY),--only $(subst $(comma), ,$(ONLY)))
	@tools/bench.sh report

bench-compare: ## The speed of this tree and of BASE=<commit>, in turn; ONLY=… ROUNDS=… for less or more
	@tools/bench-compare.sh $(or $(BASE),HEAD) $(if $(ROUNDS),--rounds=$(ROUNDS)) $(if $(ONLY),--only $(subst $(comma), ,$(ONLY)))

bench-report: ## Render the README's table, docs/performance.md and docs/bench/*.md, *.svg from docs/bench/*.json
	@tools/bench.sh render

gen: ## Render sql/install and docs/reference from sql/*.in
	@tools/gen.sh

fix: ## Format Rust, Python, shell scripts and Markdown, and repair what the linters can
	@cargo fmt --all
	@tools/lint.sh fix

release: ## Freeze the SQL of this version: upgrades will start from it
	@tools/release.sh

clean: ## Stop the private server; remove it and all that was built
	@tools/server.sh remove
	@cargo clean
