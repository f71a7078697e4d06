# Short names for the steps of .ci/run, which says what each does. `make` alone lists them.

.DEFAULT_GOAL := help
.PHONY: help test lint bench fuzz examples emulator ci nightly layout race vet docs api api-renew licences vulns size mutants

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## every test of the core, as the README gives it
	@bash .ci/run test

lint: ## the pinned golangci-lint with staticcheck, in all modules
	@bash .ci/run lint

bench: ## what the client costs next to the same work written manually
	@bash .ci/run bench

mutants: ## small changes to the core, each of which some test must catch
	@bash .ci/run mutants

fuzz: ## each fuzz target for 2 s; FUZZTIME=10m for longer
	@bash .ci/run fuzz

examples: ## every example, and that it prints what it should
	@bash .ci/run examples

emulator: ## the emulator with its page; ARGS=-h lists its flags
	@go run ./cmd/prepaid-emulator $(ARGS)

ci: ## everything, as it is run before a change is taken
	@bash .ci/run

nightly: ## the same tests for longer, with the next Go, the other JSON library, 32 bits and other systems
	@bash .ci/run nightly

layout: ## how the client's files depend on one another; the limits of the layout
	@bash .ci/run layout

race: ## every test with the race detector, and the floors of coverage
	@bash .ci/run race

vet: ## gofmt, go vet, go fix, go.mod
	@bash .ci/run format vet fix tidy

docs: ## every public name is documented, the tables in docs/ are complete
	@bash .ci/run docs traces

api: ## the public API against the listing in api/
	@bash .ci/run api

api-renew: ## write api/ anew, after a change of the API that is meant
	@bash .ci/run api_renew

licences: ## the licence of every dependency
	@bash .ci/run licences

vulns: ## known vulnerabilities in what is called
	@bash .ci/run vulns

size: ## what the client adds to a program
	@bash .ci/run size
