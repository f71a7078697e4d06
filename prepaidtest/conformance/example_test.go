package conformance_test

import (
	"fmt"
	"testing"

	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/prepaidtest/conformance"
)

// In a test of yours, against the emulator or the operator's test environment. The zero Allow only reads.
func ExampleRun() {
	check := func(t *testing.T) {
		srv := prepaidtest.NewServer(t)
		conformance.Run(t, conformance.Target{
			BaseURL: srv.URL, ClientID: "emulator-client", ClientSecret: "emulator-secret", Vendor: "vendor",
		})
	}
	all := func(string, string) (bool, error) { return true, nil }
	fmt.Println(testing.RunTests(all, []testing.InternalTest{{Name: "TestConformance", F: check}}))
	// Output: true
}

// What would be looked at, and what each check needs.
func ExampleCases() {
	for _, c := range conformance.Cases()[:1] {
		fmt.Println(c.Name, c.Section, c.Operation, c.Needs)
	}
	// Output: 4.1/token_is_issued 4.1 POST /token []
}

// A target holds a secret, and prints without it.
func ExampleTarget() {
	target := conformance.Target{BaseURL: "https://service.example/3.0/", ClientSecret: "secret"}
	fmt.Println(target)
	// Output: conformance.Target(https://service.example/3.0/)
}
