package hostile_test

import (
	"context"
	"flag"
	"log"
	"os"
	"testing"

	"github.com/cardprograms/prepaid/hostile"
	"github.com/cardprograms/prepaid/tests/built"
)

// TestMain is also each worker. Runs wait more than they work, so more of them run at once than there are cores.
func TestMain(m *testing.M) {
	hostile.Worker(func(ctx context.Context, job hostile.Job) error {
		switch os.Getenv("WORKER_IS") {
		case "leased":
			return leased(ctx, job)
		case "journal":
			return journaled(ctx, job)
		}
		return sloppy(ctx, job)
	})
	if err := flag.Set("test.parallel", "8"); err != nil {
		log.Fatal(err)
	}
	built.Main(m, map[string]string{"../..": "./cmd/prepaid-hostile"})
}
