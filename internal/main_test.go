// Package internal_test tests the small packages of this directory through what they export.
package internal_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
