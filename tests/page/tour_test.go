package page

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/tree"
	"github.com/cardprograms/prepaid/tests/built"
	"github.com/cardprograms/prepaid/tests/programs/emulator"
	"github.com/cardprograms/prepaid/tests/transcript"
)

const tour = "docs/tour.md"

// mostScale is how much longer the durations may be than those of the document.
const mostScale = 64

// docs/tour.md shows this program's real output and page. A payment's first request gets a proxy's 502 and is
// carried out later; curl and the SDK repeat it.
func TestTour(t *testing.T) {
	t.Parallel()
	built.NeedTool(t, "curl")
	picture := camera(t)
	for scale := 1; scale <= mostScale; scale *= 4 { // longer than in the document if the machine is too slow
		v := &visit{emulator.Start(t, "-log", "off"), picture, scale}
		if v.paysTwice(t) && v.paysOnce(t) {
			return
		}
		t.Logf("too slow to tell with %d times the durations of the document", scale)
	}
	require.Fail(t, "the programs do not do what the document shows")
}

// visit is a reader's way through the document.
type visit struct {
	*emulator.Process
	picture shot
	scale   int
}

const arm = `curl -s -d 'operation=POST /accounts/{id}/transfer' -d 'fault=proxy-page 502 commit-after HELD' http://127.0.0.1:8480/faults`

// paysTwice is a naive program. It returns false if the first request does not run until the picture is taken.
func (v *visit) paysTwice(t *testing.T) bool {
	t.Helper()
	start, _, _ := strings.Cut(v.inTheDocument("$ go run ./cmd/prepaid-emulator -log off\n"+v.Greeting), "\nTry:")
	transcript.Require(t, tour, "emulator", start, transcript.Stable)
	v.Call("GET", "accounts/"+ada, "") // v then has a token
	shown := v.session(t, []string{"TOKEN=" + v.Token}, strings.Replace(arm, "HELD", "4s", 1),
		`curl -sS --retry 1 --retry-delay 1 -w '\n' -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/vnd.vendor+json' \
    -d '{"request_id": "lunch-1", "amount": 25.50, "destination_account_id": "EA10000000000002", "transaction_type": 1,
         "source_reference": "lunch", "destination_reference": "lunch"}' \
    http://127.0.0.1:8480/3.0/accounts/EA10000000000001/transfer`)
	overlap := func() bool { return strings.Contains(v.JSON("transfers"), `"request_id":"lunch-1"`) }
	if !v.picture(v.Page+"transfers", "tour-will-pay-twice.png", `#part-running-now`, overlap) {
		return false
	}
	transcript.Require(t, tour, "naive", shown, transcript.Stable)
	require.Eventually(t, func() bool { return strings.Contains(v.JSON("transfers"), `"running":[]`) }, 10*time.Minute, 50*time.Millisecond)
	v.picture(v.Page+"transfers", "tour-paid-twice.png", `#part-paid-twice`, always)
	require.Contains(t, v.JSON("transfers"), `"paid_twice":["lunch-1"]`)
	return true
}

// paysOnce is the quickstart. It returns false if the output differs, as it does if an attempt takes too long.
func (v *visit) paysOnce(t *testing.T) bool {
	t.Helper()
	var environment []string
	for _, variable := range regexp.MustCompile(`(?m)^  export (\w+)='(.*)'$`).FindAllStringSubmatch(v.Greeting, -1) {
		environment = append(environment, variable[1]+"="+variable[2])
	}
	removeJournals(t) // the emulator is new: its cards are too
	shown, err := v.try(t, environment, strings.Replace(arm, "HELD", "2s", 1),
		"PREPAID_ATTEMPT_TIMEOUT=2s PREPAID_RETRY_IN_FLIGHT_WAIT=1s go run ./examples/quickstart")
	if v.scale < mostScale && (err != nil || !transcript.Shows(t, tour, "sdk", shown, transcript.Stable)) {
		return false
	}
	require.NoError(t, err, shown)
	transcript.Require(t, tour, "sdk", shown, transcript.Stable)
	require.Contains(t, v.JSON("transfers"), `"paid_twice":["lunch-1"]`)
	repeated := regexp.MustCompile(`<span class="small code">(\d{8}-[0-9a-f-]+)</span> <span class="badge calm">repeat of #\d+</span> <span class="badge dull">kept response`).
		FindStringSubmatch(v.Get("/requests?outcome=repeat").Body)
	require.Len(t, repeated, 2)
	v.picture(v.Page+"requests?text="+repeated[1], "tour-paid-once.png", `[aria-label="Found"]`, always)
	return true
}

// removeJournals removes the quickstart's journal from the root of the repository, also at the end of the test.
func removeJournals(t *testing.T) {
	t.Helper()
	remove := func() {
		for _, name := range []string{"quickstart.journal", "quickstart.journal.evidence"} {
			_ = os.Remove(filepath.Join(tree.Root(t), name))
		}
	}
	remove()
	t.Cleanup(remove)
}

// session runs commands of the document with the address of this emulator and scaled durations.
func (v *visit) session(t *testing.T, environment []string, commands ...string) string {
	t.Helper()
	shown, err := v.try(t, environment, commands...)
	require.NoError(t, err, shown)
	return shown
}

func (v *visit) try(t *testing.T, environment []string, commands ...string) (string, error) {
	t.Helper()
	replaced := make([]string, 0, 2*len(commands))
	for i, command := range commands {
		scaled := regexp.MustCompile(`\b\ds\b`).ReplaceAllStringFunc(command, func(duration string) string {
			return strconv.Itoa(int(duration[0]-'0')*v.scale) + "s"
		})
		commands[i] = strings.ReplaceAll(scaled, "http://127.0.0.1:8480/", v.Page)
		replaced = append(replaced, "$ "+scaled, "$ "+command)
	}
	shown, err := transcript.Try(t, environment, commands...)
	return strings.NewReplacer(replaced...).Replace(v.inTheDocument(shown)), err
}

// inTheDocument replaces the address, which varies by test.
func (v *visit) inTheDocument(text string) string {
	return strings.ReplaceAll(text, v.Page, "http://127.0.0.1:8480/")
}

// shot compares a picture in docs/ with an element of a page. It returns false if the condition ended before the page was read.
type shot func(page, file, selector string, while func() bool) bool

func always() bool { return true }

// camera returns a shot with a browser, if there is one.
func camera(t *testing.T) shot {
	t.Helper()
	if _, err := exec.LookPath("chromedriver"); err != nil && os.Getenv("PREPAID_BROWSER") != "required" {
		return func(_, _, _ string, while func() bool) bool {
			t.Log("NOT CHECKED: the pictures, without chromedriver")
			return while()
		}
	}
	b := startBrowser(t).in(t, browserForm{noJavaScript: true}) // a script would change the page meanwhile
	b.call(http.MethodPost, "/window/rect", map[string]any{"width": 1200, "height": 2000}, nil)
	return func(page, file, selector string, while func() bool) bool {
		t.Helper()
		b.visit(page)
		shown := b.text(selector)
		if !while() {
			return false
		}
		transcript.Picture(t, "docs/"+file, shown, func() []byte { return b.pictureOf(selector) })
		return true
	}
}
