package emulator

import (
	"testing"

	"github.com/cardprograms/prepaid/internal/tests/caller"
)

func TestMain(m *testing.M) { Main(m, "../../..") }

const ada, grace = caller.Ada, caller.Grace
