package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/requestid"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

// A model that finds nothing proves nothing.
func TestMistakesWithAnotherSDKAreFound(t *testing.T) {
	t.Parallel()
	vettest.Run(t, "testdata", calls.On(requestid.Analyzer, calls.New(payments())), "shop")
}

// The examples of two SDKs, in the versions of testdata/pinned/go.mod, are small enough for every run. The sample programs of
// midtrans-go forget errors, as their comments say ("do something on error handle"). Those of mercadopago print them all.
func TestExamplesOfOtherSDKs(t *testing.T) {
	t.Parallel()
	download := exec.Command("go", "mod", "download")
	download.Dir = "testdata/pinned"
	if out, err := download.CombinedOutput(); err != nil {
		if os.Getenv("PREPAID_REQUIRE_TOOLS") == "1" {
			t.Fatalf("the modules cannot be downloaded, and PREPAID_REQUIRE_TOOLS=1 asks for them: %s", out)
		}
		t.Skipf("NOT CHECKED: the modules cannot be downloaded; set PREPAID_REQUIRE_TOOLS=1 to fail instead: %s", out)
	}
	const midtrans, mercadopago = "github.com/midtrans/midtrans-go/example/simple/", "github.com/mercadopago/sdk-go/examples/"
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: "testdata/pinned"}, midtrans+"...", mercadopago+"...")
	require.NoError(t, err)
	require.Zero(t, packages.PrintErrors(loaded))
	graph, err := checker.Analyze(mapped(payments()), loaded, nil)
	require.NoError(t, err)

	money := map[string]int{}
	var reports []string
	for _, action := range graph.Roots {
		require.NoError(t, action.Err)
		sdk := mercadopago
		if strings.HasPrefix(action.Package.PkgPath, midtrans) {
			sdk = midtrans
		}
		for _, d := range action.Diagnostics {
			if action.Analyzer.Name == found.Name {
				money[sdk]++
				continue
			}
			what, _, _ := strings.Cut(d.Message, ": ")
			reports = append(reports, strings.TrimPrefix(action.Package.PkgPath, sdk)+" "+action.Analyzer.Name+" "+what)
		}
	}
	require.Equal(t, map[string]int{midtrans: 8, mercadopago: 22}, money)
	require.ElementsMatch(t, []string{
		"coreapi outcome the error of coreapi.ChargeTransaction is dropped",
		"coreapi-card-3ds outcome the error of coreapi.ChargeTransaction is dropped",
		"iris outcome the error of iris.ApprovePayout is dropped",
		"transaction outcome the error of coreapi.CancelTransaction is only compared with nil",
		"transaction outcome the error of coreapi.CaptureTransaction is only compared with nil",
		"transaction outcome the error of coreapi.RefundTransaction is only compared with nil",
	}, reports)
}
