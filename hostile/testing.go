package hostile

import (
	"fmt"
	"testing"
)

// Test calls Run in a test. If Report.OK returns false, the test fails and shows the report with its timelines.
func Test(t testing.TB, options Options) *Report {
	t.Helper()
	report, err := Run(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	report.Reproduce = fmt.Sprintf("PREPAID_HOSTILE_SEED=%d go test -count=1 -run '^%s$'", report.Seed, t.Name())
	if !report.OK() {
		t.Errorf("hostile: %s", report)
	} else {
		t.Logf("hostile: %s", report)
	}
	return report
}
