package conformance_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/prepaidtest/conformance"
)

// In a test of yours, against the emulator or the operator's test environment. The zero Allow only reads.
func ExampleRun() {
	check := func(t *testing.T) {
		srv := prepaidtest.NewServer(t, prepaidtest.Options{})
		conformance.Run(t, conformance.Target{
			BaseURL: srv.URL, ClientID: "emulator-client", ClientSecret: "emulator-secret", Vendor: "vendor",
		})
	}
	fmt.Println(passes(check))
	// Output: true
}

// passes runs a test without the lines that -v would print.
func passes(test func(*testing.T)) bool {
	verbose := flag.Lookup("test.v").Value
	defer func(before string) { _ = verbose.Set(before) }(verbose.String())
	_ = verbose.Set("false")
	all := func(string, string) (bool, error) { return true, nil }
	return testing.RunTests(all, []testing.InternalTest{{Name: "TestConformance", F: test}})
}

// The checks of the suite, and the requirements of each.
func ExampleCases() {
	for _, c := range conformance.Cases()[:1] {
		fmt.Println(c.Name, c.Section, c.Operation, c.Needs)
	}
	// Output: 4.1/token_is_issued 4.1 POST /token []
}

// A target prints without its secret.
func ExampleTarget() {
	target := conformance.Target{BaseURL: "https://service.example/3.0/", ClientSecret: "secret"}
	fmt.Println(target)
	// Output: conformance.Target(https://service.example/3.0/)
}
