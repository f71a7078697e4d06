// Prepaidvet finds mistakes with money in programs that use the SDK: go vet -vettool=$(which prepaidvet) ./...
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	prepaidvet "github.com/cardprograms/prepaid/contrib/vet"
)

func main() { unitchecker.Main(prepaidvet.Analyzers()...) }
