package harness

import (
	"flag"
	"log"
	"runtime"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// Main runs tests that mostly wait, more at once than there are cores, and looks for goroutines that are left.
func Main(m *testing.M, parallel int) {
	if err := flag.Set("test.parallel", strconv.Itoa(max(parallel, runtime.GOMAXPROCS(0)))); err != nil {
		log.Fatal(err)
	}
	goleak.VerifyTestMain(m)
}
