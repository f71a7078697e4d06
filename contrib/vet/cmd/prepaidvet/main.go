// Prepaidvet finds mistakes with money in programs that use the SDK. It is a tool for go vet.
//
//	go vet -vettool=$(which prepaidvet) ./...            all rules
//	go vet -vettool=$(which prepaidvet) -outcome ./...   this rule only
//	prepaidvet help outcome                              describes a rule
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	prepaidvet "github.com/cardprograms/prepaid/contrib/vet"
)

func main() { unitchecker.Main(prepaidvet.Analyzers()...) }
