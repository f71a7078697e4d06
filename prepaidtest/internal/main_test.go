// Package internal_test tests what the packages below export. Rules that no exported name shows are tested over HTTP, by
// package prepaidtest.
package internal_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
