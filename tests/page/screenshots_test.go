package page

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/tests/programs/emulator"
)

// TestScreenshots makes the pictures of docs/emulator.md in the directory PREPAID_TEST_SCREENSHOTS.
func TestScreenshots(t *testing.T) {
	directory := os.Getenv("PREPAID_TEST_SCREENSHOTS")
	if directory == "" {
		t.Skip("PREPAID_TEST_SCREENSHOTS names no directory")
	}
	b := startBrowser(t).in(t, browserForm{})
	p := emulator.Start(t, "-log", "off", "-deterministic", "1", "-start-at", "2026-02-02T09:30:00Z")
	p.Call("GET", "accounts/company/42", "")
	p.Pay("25.50", "lunch-1")
	p.Pay("25.50", "lunch-1")
	p.Call("GET", "accounts/EA404", "")
	p.Press("/faults", "operation=POST /accounts/{id}/transfer&fault=proxy-page 502 commit-after 30s")
	p.Pay("12.50", "payout-9")
	p.Pay("12.50", "payout-9")
	p.Press("/faults", "operation=*&fault=delay+250ms&times=&probability=0.1")
	for _, picture := range []struct{ file, path string }{
		{"emulator-transfers.png", "transfers"}, // first: its transfers take 30 s
		{"emulator-overview.png", ""},
	} {
		b.visit(p.Page + picture.path)
		time.Sleep(1200 * time.Millisecond) // a live update
		require.NoError(t, os.WriteFile(filepath.Join(directory, picture.file), b.picture("/screenshot"), 0o600))
	}
}
