package envelope

import (
	"os"
	"os/exec"
	"testing"
)

// requireTool returns the path of an outside program. Without the program the test is skipped, or fails when
// PREPAID_REQUIRE_TOOLS is 1, so that a build meant to check against it cannot pass without it.
func requireTool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("PREPAID_REQUIRE_TOOLS") == "1" {
		t.Fatalf("%s is not installed, and PREPAID_REQUIRE_TOOLS=1 asks for it", name)
	}
	t.Skipf("NOT CHECKED: %s is not installed; set PREPAID_REQUIRE_TOOLS=1 to fail instead", name)
	return ""
}
