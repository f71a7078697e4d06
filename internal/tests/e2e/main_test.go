package e2e

import (
	"testing"

	"github.com/cardprograms/prepaid/internal/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m, 8) }
