# `make` lists what there is.
SHELL := /bin/sh
CACHE := $(or $(SKARV_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/skarv)
# Debian keeps servers in sbin; programs unpacked without root are in the cache.
export PATH := $(PATH):$(CACHE)/bin:$(HOME)/go/bin:/usr/local/sbin:/usr/sbin:/sbin

ARGS ?=
FUZZTIME ?= 30s

# The race detector needs a C compiler; without one the tests run all the same.
RACE = $(shell echo 'int main(void) { return 0; }' | cc -x c - -o /dev/null >/dev/null 2>&1 && echo -race)

.DEFAULT_GOAL := help
.PHONY: help build install dev test test-unit test-e2e test-mysql chaos-txn chaos-reorg histories server-suite orms memory golden fuzz bench bench-cutover bench-overload pgo check lint proto clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build skarv and skarvctl into bin/
	go build -o bin/ ./cmd/...

PREFIX ?= /usr/local

install: build ## copy them to PREFIX/bin (PREFIX=/usr/local, DESTDIR)
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 bin/skarv bin/skarvctl $(DESTDIR)$(PREFIX)/bin/

dev: build ## run a whole cluster on this machine; brings MariaDB if no server is there (ARGS="--node-groups 2")
	@scripts/install-mariadb.sh --client
	bin/skarv dev $(ARGS)

test: test-unit test-e2e ## bring what the tests need and run every test

# Packages that start no goroutine and share nothing: the race detector would only make their long property tests slow.
PURE = sqltypes sqlparse placement merge plan planner

# Packages of tests that run at a time: most of them wait for servers and use half of a processor, so that there are half as many more than
# there are processors. Each may have five servers, so that there are never many.
ATONCE ?= $(shell n=$$(nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2); n=$$((n + (n + 1) / 2)); echo $$((n > 6 ? 6 : n)))

# The slowest first, so that all end together.
LONG = control mover mysqlserver
SLOW = compat logic e2e reorg session

test-unit: ## vet, then the packages' own tests, with the race detector where there is anything to race
	@scripts/test-deps.sh
	go vet ./...
	go test -timeout 10m $(PURE:%=./pkg/%) ./test/arch ./test/docs
	scripts/in-memory.sh go test -pgo=off $(RACE) -timeout 30m -p $(ATONCE) $(LONG:%=./pkg/%) $$(go list ./pkg/... ./cmd/... ./proto/... | grep -vE '/pkg/($(subst $() ,|,$(PURE) $(LONG)))$$')

test-e2e: ## the tests that need a cluster of real servers, several packages at a time
	@scripts/test-deps.sh
	scripts/in-memory.sh go test -timeout 40m -p $(ATONCE) $(SLOW:%=./test/%) $$(go list ./test/... | grep -vE "/test/(arch|docs|$(subst $() ,|,$(SLOW)))$$")

test-mysql: ## the tests that need servers, on MySQL 9 instead of MariaDB
	@scripts/test-deps.sh
	@scripts/install-mysql.sh
	SKARV_TEST_ENGINE=mysql scripts/in-memory.sh go test -timeout 40m -p 1 ./pkg/control ./pkg/datanode ./pkg/dev $$(go list ./test/... | grep -vE "/test/(arch|docs)$$")

chaos-reorg: ## ten minutes of moving partitions while processes are killed and stopped, on MariaDB and on MySQL
	SKARV_CHAOS_SECONDS=600 go test -count 1 -timeout 20m -run TestChaos -v ./test/reorg
	SKARV_CHAOS_SECONDS=600 SKARV_TEST_ENGINE=mysql go test -count 1 -timeout 20m -run TestChaos -v ./test/reorg

chaos-txn: ## ten minutes of killed proxies and servers under transactions, on MariaDB and on MySQL
	@scripts/test-deps.sh
	@scripts/install-mysql.sh
	SKARV_CHAOS_SECONDS=600 go test -count 1 -timeout 15m -v ./test/chaos
	SKARV_CHAOS_SECONDS=600 SKARV_TEST_ENGINE=mysql go test -count 1 -timeout 15m -v ./test/chaos

histories: ## random transactions looked through for anomalies: a minute at each isolation level and setting, on MariaDB and on MySQL
	@scripts/test-deps.sh
	@scripts/install-mysql.sh
	SKARV_HISTORY_SECONDS=60 go test -count 1 -timeout 30m -v -run TestRandom ./test/isolation
	SKARV_HISTORY_SECONDS=60 SKARV_TEST_ENGINE=mysql go test -count 1 -timeout 30m -v -run TestRandom ./test/isolation

server-suite: ENGINE ?= mariadb
server-suite: ## a server's own regression tests, statement by statement beside one server (ENGINE=mysql ARGS="t/func_*.test"; fetches them)
	@scripts/test-deps.sh
	@[ $(ENGINE) = mariadb ] || scripts/install-$(ENGINE).sh
	SKARV_TEST_ENGINE=$(ENGINE) go run ./test/serversuite --dir $$(scripts/server-suite.sh $(ENGINE)) --log server-suite.log $(ARGS)
	@grep '^===' server-suite.log | tail -1

orms: build ## Django and SQLAlchemy, with a foreign key for every relation, on MariaDB and on MySQL (brings them with pip)
	@scripts/test-deps.sh
	@scripts/install-mysql.sh
	scripts/orms.sh bin/skarv mariadb
	scripts/orms.sh bin/skarv mysql

memory: ## the proxy's memory while 1 GB streams, sorts, groups and is copied (SKARV_MEMORY_BYTES)
	@scripts/test-deps.sh
	SKARV_MEMORY_BYTES=$(or $(SKARV_MEMORY_BYTES),1073741824) go test -count 1 -timeout 30m -v -run TestMemory ./test/workspace

golden: ## rewrite the expected results of golden tests; read the diff before committing it
	go test $$(grep -rl --include='*_test.go' 'cockroachdb/datadriven' pkg | xargs -n1 dirname | sort -u | sed 's|^|./|') ./test/docs -rewrite

fuzz: ## run every fuzz test for FUZZTIME each
	@set -e; for file in $$(grep -rl --include='*_test.go' '^func Fuzz' pkg); do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$file); do \
			echo "$$(dirname $$file) $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) ./$$(dirname $$file); \
		done; \
	done

fuzz-sql: ## compare random statements on one server and on a cluster; a difference becomes a story of test/compat (SECONDS=600 STATEMENTS=unlimited SEED=random DIFFERENCES=20)
	@scripts/test-deps.sh
	SKARV_LOGIC_SECONDS=$(or $(SECONDS),600) SKARV_LOGIC_SEED=$(or $(SEED),$(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')) \
		SKARV_LOGIC_STATEMENTS=$(or $(STATEMENTS),0) SKARV_LOGIC_DIFFERENCES=$(or $(DIFFERENCES),20) \
		SKARV_LOGIC_STORIES=$(CURDIR)/test/compat/testdata \
		go test -count=1 -v -timeout 0 -run 'TestLogic$$' ./test/logic

bench: build ## measure everything and write docs/performance.md, in about ten minutes (ARGS="--sections point --rounds 3")
	@scripts/test-deps.sh --haproxy
	go run ./test/bench --write docs/performance.md $(ARGS)

bench-cutover: build ## measure statements while partitions move, 50 times, and write that part of docs/performance.md (ARGS="--cutovers 10")
	@scripts/test-deps.sh
	go run ./test/bench --sections cutover --write docs/performance.md $(ARGS)

bench-overload: build ## measure overload, and one node group that is ten times slower, in about four minutes; writes docs/performance.md
	@scripts/test-deps.sh
	go run ./test/overload --write docs/performance.md $(ARGS)

.PHONY: scaling
scaling: build ## compute docs/scaling.md from what was measured; ARGS=--measure measures first, in about four minutes
	@scripts/test-deps.sh
	go run ./test/scaling $(ARGS)

pgo: build ## take a profile of the statements' way, and make it the one that skarv is built with
	@scripts/test-deps.sh --haproxy
	go run ./test/bench --sections point,transactions,scatter --seconds 1 --rounds 2 --profile cmd/skarv/default.pgo

check: lint test-unit ## what must pass before a push

lint: ## gofmt, vet, and golangci-lint if it is installed
	@unformatted=$$(gofmt -l cmd pkg proto test); [ -z "$$unformatted" ] || { echo "gofmt: $$unformatted"; exit 1; }
	go vet ./...
	@if command -v golangci-lint >/dev/null 2>&1; then golangci-lint run ./...; fi

proto: ## generate Go from proto/ (needs protoc, protoc-gen-go, protoc-gen-go-grpc)
	protoc -I proto --go_out=proto --go_opt=paths=source_relative \
		--go-grpc_out=proto --go-grpc_opt=paths=source_relative $$(cd proto && find * -name '*.proto')

clean: ## remove what was built
	rm -rf bin
