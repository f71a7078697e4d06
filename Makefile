# Short names for the steps of .ci/run, which says what each does. `make` alone lists them.

.DEFAULT_GOAL := help
.PHONY: help test suites cover busy lint bench fuzz emulator ci nightly vet docs api api-renew licences vulns mutants tour

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## every test of the core
	@go test ./...

suites: ## the tests that need a kernel, processes, a browser, other programs or real time
	@bash .ci/run suites

cover: ## the tests of the core with the race detector, the limits of coverage and the OpenAPI document
	@bash .ci/run test

busy: ## many runs of the tests next to busy processes; BUSY=2 for few
	@bash .ci/run busy

lint: ## the pinned golangci-lint with staticcheck, in all modules
	@bash .ci/run lint

bench: ## what the client costs next to the same work written manually
	@bash .ci/run bench

mutants: ## small changes to the core, each of which a test must detect
	@bash .ci/run all_mutants

fuzz: ## each fuzz target for a minute; FUZZTIME=10m for longer
	@bash .ci/run longfuzz

emulator: ## the emulator with its page; ARGS=-h lists its flags
	@go run ./cmd/prepaid-emulator $(ARGS)

ci: ## everything that must pass before a change is merged
	@bash .ci/run

nightly: ## the same tests for longer, with the next Go, the other JSON library, 32 bits and other systems
	@bash .ci/run nightly

vet: ## gofmt, go vet, go fix, go.mod, waits in tests
	@go vet ./...
	@bash .ci/run format fix tidy waits

docs: ## every public name is documented, the tables in docs/ are complete
	@bash .ci/run docs traces

tour: ## the transcripts and pictures of docs/tour.md, where they have changed
	@bash .ci/run tour

api: ## the public API against the listing in api/
	@bash .ci/run api

api-renew: ## rewrite api/ after an intended change of the API
	@bash .ci/run api_renew

licences: ## the licence of every dependency
	@bash .ci/run licences

vulns: ## known vulnerabilities in called code
	@bash .ci/run vulns
