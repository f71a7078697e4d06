package page

import (
	"testing"

	"github.com/cardprograms/prepaid/tests/programs/emulator"
)

func TestMain(m *testing.M) { emulator.Main(m, "../..") }
