.DEFAULT_GOAL := help
# The programs have no symbol tables, which panics and profiles do not need, and no
# trace pages of gRPC.
BUILD := go build -tags grpcnotrace -trimpath -ldflags='-s -w'
LINT := go tool -modfile=tools/go.mod golangci-lint
# Small heaps would be collected all the time at the default GOGC. Without debug
# information, each test binary links in half the time. make lint runs vet, on tests too.
TEST := GOGC=400 go test -tags invariants,grpcnotrace -ldflags=-w -vet=off
# The packages with the longest tests begin first, so that none of them is left alone at the end.
LONGEST := ./node ./cluster ./instance

.PHONY: adapters-go adapters-js adapters-js-bench adapters-mcp attack bench bench-build bench-check bench-peers blob-check build check
.PHONY: check-deploy cluster docs docs-check example-adk-team example-redis-agent example-support-agent examples fmt fuzz help import-instances-under-kills
.PHONY: import-sessions-under-kills import-under-kills jepsen-full jepsen-selftest jepsen-smoke lint mixed-versions
.PHONY: module-path openapi-check proto race release run sdk-elixir simulate sdk-go sdk-go-check sdk-js sdk-python sim test
.PHONY: ui ui-check ui-paint ui-pictures ui-test

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-28s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## build, and start a one-node cluster on loopback (data in ./dormouse-data)
	@mkdir -p bin
	$(BUILD) -o bin/dormoused ./cmd/node
	$(BUILD) -o bin/dormctl ./cmd/dormctl
	bin/dormoused --dev

cluster: build ## three nodes on loopback until interrupted (data in ./dormouse-data/cluster)
	scripts/cluster.sh

build: ## build the binaries into bin/
	@mkdir -p bin
	$(BUILD) -o bin/dormoused ./cmd/node
	$(BUILD) -o bin/dormctl ./cmd/dormctl
	$(BUILD) -o bin/dormjepsen ./cmd/dormjepsen
	cd cmd/dormblob && $(BUILD) -o ../../bin/dormblob .
	cd cmd/dormbench && $(BUILD) -o ../../bin/dormbench .

test: ## unit tests, invariants on, order shuffled; no root, no network (PKG="./agent ./fsm" for some)
	$(TEST) -shuffle on $(or $(PKG),./internal/faultstest $(LONGEST) ./...)

check: lint test ## all that must pass before a commit (5 min)

lint: ## linters, import direction, stale generated code
	$(LINT) run ./...
	go test ./internal/tidy
	scripts/check_generated.sh

# Under the race detector go: whole clusters by sim, the suite over store and
# router by the client's run on three nodes, which goes through both. Judges of made-up
# histories, crashes, and the suite in virtual time are one goroutine at a time; the state
# machine starts none, so of its tests only those with goroutines go. One run of the suite is
# enough, and a limit of megabytes needs no detector. The processes of
# faultstest are built without the detector. The attacks measure memory, of which the
# detector needs several times as much. The benchmarks, and the harness's clients in other
# languages, are programs of their own that the detector does not see.
race: ## the unit tests under the race detector, less what runs under it elsewhere (LESS=x: without packages that match)
	$(TEST) -race -shuffle on -skip 'Sim$$|^Test(Store|Router)On(One|Three)|^TestClientOnOne|InVirtualTime$$|^TestProgramsAreSmall$$|^TestTheConformanceSuitePassesWithTLS|^TestACompressedBodyHasTheLimit' \
	  $(LONGEST) $$(scripts/race_packages.sh | grep -v -e /fsm$$ -e /internal/attack$$ -e /internal/faultstest$$ -e /internal/tidy$$ -e /jepsen/workload/ -e /jepsen/sdkclient$$ -e /jepsen/program$$ -e /bench/ $(if $(LESS),-e '$(LESS)'))
	$(TEST) -race -shuffle on -run "$$(scripts/race_tests.sh fsm)" -skip 'EqualsNoCrash$$|LeavesTheOldStateOrTheNew$$' ./fsm

sim: ## whole clusters in virtual time, many runs (SIM=n for n runs each, SIM_INSTANCES=n for crowds of n live instances)
	$(TEST) -race -timeout $(or $(SIM),200)h -count $(or $(SIM),200) -run 'Sim$$' ./node/ ./cluster/...

simulate: build ## simulated clusters whose runs repeat bit for bit: the kept seeds, some with a seeded bug, and RUNS more (one minute once the simulator is built, which takes minutes)
	bin/dormjepsen sim --kept jepsen/sim/testdata/seeds --repeat 2 --seed 1 --runs $(or $(RUNS),4) --time 60s

attack: ## attacks on a real node by callers without a token or a right (under 4 min)
	$(TEST) -count=1 ./internal/attack/...

openapi-check: ## lint the OpenAPI document, generate three clients from it, compile and use them (needs node 20; under 1 min)
	npm --prefix sdk/openapi ci --silent
	npm --prefix sdk/openapi run --silent check

sdk-js: ## build and test the TypeScript client, also against three nodes whose leader is killed, and over TLS (needs node 20; 1 min)
	npm --prefix sdk/js ci --silent
	npm --prefix sdk/js test --silent
	go run ./internal/withcluster -- npm --prefix sdk/js run --silent conformance
	go run ./internal/withcluster -nodes 1 -tls -- sh -c 'NODE_EXTRA_CA_CERTS=$$DORMOUSE_CA node sdk/js/build/test/tls.js'
	go test -count=1 -run 'TheLibrary/typescript' ./jepsen/sdkclient

sdk-python: ## type-check and test the Python client and its adapters, against three nodes whose leader is killed and over TLS (needs python 3.11, mypy; 1 min)
	cd sdk/python && mypy dormouse
	go run ./internal/withcluster -nodes 1 -tls -- sh -c 'cd sdk/python && python3 -W error -m unittest tests.test_tls'
	go run ./internal/withcluster -- sdk/python/test.sh

sdk-elixir: ## test the Elixir client and its behaviours, also against three nodes whose leader is killed, and over TLS (needs elixir 1.14; 1 min)
	go run ./internal/withcluster -nodes 1 -tls -- sh -c 'cd sdk/elixir && mix test --only tls'
	go run ./internal/withcluster -- sdk/elixir/test.sh

sdk-go: ## the Go library as a module of its own into build/sdk/go
	go run ./internal/sdkgo/assemble

sdk-go-check: sdk-go ## build, vet and verify the Go library, and run its example on three nodes (1 min)
	cd build/sdk/go && go build ./... && go vet ./... && go mod tidy -diff && go mod verify
	go run ./internal/withcluster -- sdk/go/run_example.sh

adapters-go: sdk-go ## the adapters for Go on three nodes, each under its framework's suite (ADAPTERS="adk eino" for some)
	go run ./internal/withcluster -- adapters/go/run.sh $(ADAPTERS)

examples: example-adk-team example-redis-agent example-support-agent ## the examples that are killed in the middle and go on (2 min)

example-adk-team: sdk-go ## a team in ADK for Go: the team and the leader are killed, and each step is done once (30 s)
	cd examples/adk-team && go mod tidy -diff && go vet ./...
	examples/adk-team/run.sh

example-redis-agent: ## an agent in Elixir that keeps its state by a Redis client: the same (20 s; needs elixir)
	examples/redis-agent/run.sh

example-support-agent: ## a support agent in LangGraph.js with a human review: the same (30 s; needs node 20)
	npm --prefix sdk/js ci --silent
	npm --prefix sdk/js run --silent build
	npm --prefix adapters/js/langgraph ci --silent
	npm --prefix adapters/js/langgraph run --silent build
	npm --prefix examples/support-agent ci --silent
	npm --prefix examples/support-agent run --silent build
	examples/support-agent/run.sh

adapters-js: ## the adapters for JavaScript on three nodes, each under its framework's suite (ADAPTERS_JS="langgraph" for one; needs node 20; 2 min)
	npm --prefix sdk/js ci --silent
	npm --prefix sdk/js run --silent build
	go run ./internal/withcluster -- adapters/js/run.sh $(ADAPTERS_JS)
	$(if $(ADAPTERS_JS),,go run ./internal/withcluster -- npm --prefix adapters/js/langgraph run --silent test:newest)

adapters-js-bench: ## a LangGraph graph on one node, one PostgreSQL and SQLite, in turns, into bench/results/langgraph (2 min; ROUNDS=15; needs node 20, postgresql)
	npm --prefix sdk/js ci --silent
	npm --prefix sdk/js run --silent build
	npm --prefix adapters/js/langgraph ci --silent
	npm --prefix adapters/js/langgraph run --silent build
	npm --prefix adapters/js/langgraph/bench ci --silent
	OUT=$(CURDIR)/bench/results/langgraph go run ./internal/withcluster -nodes 1 -postgres -- npm --prefix adapters/js/langgraph/bench run --silent bench

ui: ## build the console into ui/dist (needs node 20; 10 s)
	npm --prefix ui ci --silent
	go -C ui/bundler run .

ui-check: ## the console's types, that ui/dist is current, and that it has at most 150 kB (30 s)
	npm --prefix ui ci --silent
	npm --prefix ui run --silent check
	go -C ui/bundler vet ./...
	go -C ui/bundler run . -check

ui-test: ## the console in Chromium against three nodes, of which one is killed, and in clusters of their own for members and 1,000,000 agents (installs Chromium as root; 4 min)
	npm --prefix ui ci --silent
	scripts/need_chromium.sh
	DORMOUSE_LOG__SLOW_CALL=4ms go run ./internal/withcluster -tokens -backups -- npm --prefix ui test --silent
	go run ./internal/withcluster -tokens -- npm --prefix ui run --silent test:members
	go run ./internal/withcluster -nodes 1 -tokens -- npm --prefix ui run --silent test:many

ui-paint: ## how fast each page of the console paints, from a node of this machine (DORMOUSE_PAINTS=20 loads each; 3 min)
	npm --prefix ui ci --silent
	scripts/need_chromium.sh
	DORMOUSE_LOG__SLOW_CALL=4ms go run ./internal/withcluster -tokens -backups -- npm --prefix ui run --silent paint

# The pictures that the documentation shows.
UI_PICTURES := overview-wide-light placement-wide-light agent-wide-dark instances-wide-light pod-wide-dark cluster-quotas-wide-light reviews-wide-light conversation-wide-light changes-wide-dark cluster-slow-wide-light

ui-pictures: ## pictures of all pages into ui/build/pictures, and of some into docs/pictures (2 min)
	npm --prefix ui ci --silent
	scripts/need_chromium.sh
	DORMOUSE_LOG__SLOW_CALL=4ms go run ./internal/withcluster -tokens -backups -- npm --prefix ui run --silent pictures
	go -C ui/bundler run ./shrink ../../docs/pictures $(UI_PICTURES:%=../build/pictures/%.png)

blob-check: ## vet and test dormblob, which reaches cloud stores (a module of its own)
	cd cmd/dormblob && go vet ./... && go test ./...

release: ## archives for all platforms into dist/ (VERSION=v1.2.3; PLATFORMS=linux/amd64 for one; 5 min)
	go run ./internal/release --version "$(VERSION)" $(if $(PLATFORMS),--platforms $(PLATFORMS))

check-deploy: ## the Helm chart, the Kubernetes manifest and the systemd unit of deploy/ (2 min)
	scripts/check_deploy.sh

adapters-mcp: ## the conformance suite of the Model Context Protocol on dormctl mcp, through a follower (30 s; needs npm)
	cd adapters/mcp && npm ci --no-audit --no-fund
	MCP_CONFORMANCE=$(CURDIR)/adapters/mcp/node_modules/.bin/conformance go run ./internal/withcluster -- go test -count=1 -v -run ConformanceSuite ./cmd/dormctl/mcp

fuzz: ## each fuzz target for FUZZTIME (30s)
	@go list ./... | while read p; do \
	  go test -list '^Fuzz' $$p | grep '^Fuzz' | while read f; do \
	    echo "$$p $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(or $(FUZZTIME),30s) $$p || exit 1; done || exit 1; done

bench: build ## benchmarks of the append, apply and read paths; compared with bench/baseline.txt where it stands
	@mkdir -p bin
	go test -run '^$$' -skip AMembersChange -bench . -benchmem -count $(or $(COUNT),5) ./agent ./fsm ./storage ./client ./node > bin/bench.new
	@if [ -f bench/baseline.txt ]; then go tool benchstat bench/baseline.txt bin/bench.new; else go tool benchstat bin/bench.new; fi

bench-build: build ## build what bench-peers needs besides: etcd's server, embedded (a module of its own)
	cd bench/etcd && go build -o ../../bin/dormbench-etcd .

bench-peers: bench-build ## side by side with etcd, PostgreSQL and Redis, into bench/results (hours; ROUNDS=1 DURATION=3s TRIALS=none for a look)
	bin/dormbench peers --rounds $(or $(ROUNDS),3) --duration $(or $(DURATION),5s) --trials $(or $(TRIALS),all) $(PEERS)

bench-check: ## vet and test the benchmark's own modules
	cd cmd/dormbench && go vet ./... && go test ./...
	cd bench/etcd && go vet ./...

mixed-versions: build ## the harness on nodes of this build and of the one in jepsen/PREVIOUS (1 min)
	scripts/mixed_versions.sh

import-under-kills: build ## the main job: import while nodes are killed, then verify through each node
	scripts/import_under_kills.sh

import-sessions-under-kills: build ## the main job of sessions: workers compete for turns while nodes are killed
	scripts/import_sessions_under_kills.sh

import-instances-under-kills: build ## the main job of instances: conversations live, while a node is killed and a fourth joins
	scripts/import_instances_under_kills.sh

jepsen-smoke: build ## six short runs of the harness under faults (under 6 min; as root, or with fewer faults)
	bin/dormjepsen smoke --binary bin/dormoused

jepsen-selftest: build ## the harness finds five seeded bugs, and nothing in a sound build (under 5 min)
	go test -tags failpoints ./internal/failpoint
	bin/dormjepsen selftest

jepsen-full: build ## every pair of workload, fault and size, then 10 million calls; hours, and goes on where it stopped (BUDGET=3h)
	bin/dormjepsen full --calls $(or $(CALLS),10000000) --budget $(or $(BUDGET),3h)

proto: ## regenerate the wire formats
	go generate ./proto

module-path: ## give the module another path everywhere (NEW=host/path, where it is to be published)
	go run ./internal/modpath/change "$(NEW)"
	go generate ./proto

fmt: ## format
	$(LINT) fmt ./...

docs: ## build the documentation as a site, and serve it at http://127.0.0.1:8080 (needs node 20; 1 min)
	npm --prefix site ci --silent
	npm --prefix site run --silent build
	npm --prefix site run --silent serve

docs-check: ## build the documentation as a site; a dead link fails it (needs node 20; 1 min)
	npm --prefix site ci --silent
	npm --prefix site run --silent build
