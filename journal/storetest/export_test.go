package storetest

import "testing"

// Each runs each of the tests by run.
func Each(run func(name string, test func(t testing.TB, subject Subject))) {
	for _, test := range tests {
		run(test.name, func(t testing.TB, subject Subject) { test.run(newSuite(t, subject)) })
	}
}
