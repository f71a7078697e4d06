# Short names for the steps of .ci/run, which says what each does.

.PHONY: emulator ci test race lint vet docs fuzz bench examples

ci: ; @bash .ci/run

test: ; @bash .ci/run test

race: ; @bash .ci/run race

lint: ; @bash .ci/run lint

vet: ; @bash .ci/run format vet fix tidy

docs: ; @bash .ci/run docs traces

fuzz: ; @bash .ci/run fuzz

bench: ; @bash .ci/run bench

emulator: ; go run ./cmd/prepaid-emulator

examples: ; @bash .ci/run examples

