package storetest

import "testing"

// Each calls run for each test. Callers run them in bubbles.
//
//waits:bubble
func Each(run func(name string, test func(t testing.TB, subject Subject))) {
	for _, test := range tests {
		run(test.name, func(t testing.TB, subject Subject) { test.run(newSuite(t, subject)) })
	}
}
