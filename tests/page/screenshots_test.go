package page

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/tests/programs/emulator"
)

// TestScreenshots makes the pictures of docs/emulator.md in the directory PREPAID_SCREENSHOTS.
func TestScreenshots(t *testing.T) {
	directory := os.Getenv("PREPAID_SCREENSHOTS")
	if directory == "" {
		t.Skip("PREPAID_SCREENSHOTS names no directory")
	}
	b := startBrowser(t).in(t, browserForm{})
	p := emulator.Start(t, "-log", "off", "-deterministic", "1", "-start-at", "2026-02-02T09:30:00Z")
	p.Call("GET", "accounts/company/42", "")
	p.Pay("25.50", "lunch-1")
	p.Pay("25.50", "lunch-1")
	p.Call("POST", "simulation/transact", `{"transaction_type":"Purchase","account_id":"`+ada+`","amount":"18.90","bank_name":"Bank","location":"Sydney","location_code":"NSW","currency_code":"AUD","acquirer_id":"400001","merchant_id":"BOOKSHOP000001","terminal_id":"T0000001","mcc":"5942"}`)
	p.Call("PUT", "accounts/EA10000000000003/status", `{"status":"activated"}`)
	p.Call("GET", "accounts/"+ada+"/transactions", "")
	p.Call("GET", "accounts/EA404", "")
	p.Pay("99999", "lunch-2")
	p.Press("/faults", "operation=POST /accounts/{id}/transfer&fault=commit-then-drop&times=1")
	p.Pay("40", "payout-8") // request 10
	p.Pay("40", "payout-8")
	p.Press("/faults", "operation=POST /accounts/{id}/transfer&fault=proxy-page 502 commit-after 30s")
	p.Pay("12.50", "payout-9")
	p.Pay("12.50", "payout-9")
	p.Press("/faults", "operation=POST /accounts/{id}/transfer&fault=commit-then-drop&times=1")
	p.Press("/faults", "operation=*&fault=delay+250ms&times=&probability=0.1")
	for _, picture := range []struct{ file, path string }{
		{"emulator-transfers.png", "transfers"}, // first: its transfers take 30 s
		{"emulator-overview.png", ""},
		{"emulator-requests.png", "requests"},
		{"emulator-request.png", "requests/10"},
		{"emulator-account.png", "accounts/" + ada},
	} {
		b.visit(p.Page + picture.path)
		time.Sleep(1200 * time.Millisecond) // a live update
		require.NoError(t, os.WriteFile(filepath.Join(directory, picture.file), b.picture("/screenshot"), 0o600))
	}
}
