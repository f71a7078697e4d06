package main

import (
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/transcript"
)

const tour = "docs/tour.md"

// docs/tour.md shows this program's real output and page. A payment's first request gets a proxy's 502 and is
// carried out later; curl and the SDK repeat it.
func TestTour(t *testing.T) {
	t.Parallel()
	needTool(t, "curl")
	p := launch(t, "-log", "off")
	greeting := "$ go run ./cmd/prepaid-emulator -log off\n" + p.out.String()
	start, _, _ := strings.Cut(p.asInTheDocument(greeting), "\nTry:")
	transcript.Require(t, tour, "emulator", start, transcript.Stable)

	picture := camera(t, p)
	const arm = `curl -s -d 'operation=POST /accounts/{id}/transfer' -d 'fault=proxy-page 502 commit-after HELD' http://127.0.0.1:8480/faults`
	p.call("GET", "accounts/"+ada, "") // p then has a token
	transcript.Require(t, tour, "naive", p.session([]string{"TOKEN=" + p.token}, strings.Replace(arm, "HELD", "4s", 1),
		`curl -sS --retry 1 --retry-delay 1 -w '\n' -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/vnd.vendor+json' \
    -d '{"request_id": "lunch-1", "amount": 25.50, "destination_account_id": "EA10000000000002", "transaction_type": 1,
         "source_reference": "lunch", "destination_reference": "lunch"}' \
    http://127.0.0.1:8480/3.0/accounts/EA10000000000001/transfer`), transcript.Stable)
	picture("tour-will-pay-twice.png", "transfers", `section[aria-labelledby="running"]`)
	require.Eventually(t, func() bool { return strings.Contains(p.transfers(), `"running":[]`) }, 30*time.Second, 50*time.Millisecond)
	picture("tour-paid-twice.png", "transfers", `section[aria-labelledby="twice"]`)

	var environment []string
	for _, variable := range regexp.MustCompile(`(?m)^  export (\w+)='(.*)'$`).FindAllStringSubmatch(greeting, -1) {
		environment = append(environment, variable[1]+"="+variable[2])
	}
	shown := p.session(environment, strings.Replace(arm, "HELD", "2s", 1),
		"PREPAID_ATTEMPT_TIMEOUT=2s PREPAID_RETRY_IN_FLIGHT_WAIT=1s go run ./examples/quickstart -pause 0s")
	steps := regexp.MustCompile(`(?s)^(.*)\n 1\. .*?(\n 3\. .*?)\n 4\. .*\n(All done.*)$`).FindStringSubmatch(shown)
	require.Len(t, steps, 4, shown)
	transcript.Require(t, tour, "sdk", steps[1]+"\n...\n"+steps[2]+"\n...\n\n"+steps[3], transcript.Stable)
	require.Contains(t, p.transfers(), `"paid_twice":["lunch-1"]`)
	repeated := regexp.MustCompile(`request ID </span>(\d{8}-[0-9a-f-]+)</span><span class="badge calm">repeat of #\d+</span><span class="badge dull">kept response`).
		FindStringSubmatch(p.get("/requests?outcome=repeat").body)
	require.Len(t, repeated, 2)
	picture("tour-paid-once.png", "requests?text="+repeated[1], `[aria-label="Requests"]`)
}

// session runs commands with the default address.
func (p *program) session(environment []string, commands ...string) string {
	p.t.Helper()
	for i, command := range commands {
		commands[i] = strings.ReplaceAll(command, "http://127.0.0.1:8480/", p.page)
	}
	return p.asInTheDocument(transcript.Session(p.t, environment, commands...))
}

// asInTheDocument replaces the address, which varies by test.
func (p *program) asInTheDocument(text string) string {
	return strings.ReplaceAll(text, p.page, "http://127.0.0.1:8480/")
}

// transfers is the page of transfers as JSON.
func (p *program) transfers() string {
	p.t.Helper()
	return p.send("GET", p.page+"transfers", "", map[string][]string{"Accept": {"application/json"}}).body
}

// camera returns a function that compares a picture in docs/ with an element of a page, if there is a browser.
func camera(t *testing.T, p *program) func(file, path, selector string) {
	t.Helper()
	if _, err := exec.LookPath("chromedriver"); testing.Short() || err != nil && os.Getenv("PREPAID_BROWSER") != "required" {
		return func(string, string, string) {
			t.Log("NOT CHECKED: the pictures, in a short run or without chromedriver")
		}
	}
	b := startBrowser(t).in(t, browserForm{noJavaScript: true}) // a script would change the page meanwhile
	b.call(http.MethodPost, "/window/rect", map[string]any{"width": 1200, "height": 2000}, nil)
	return func(file, path, selector string) {
		t.Helper()
		b.visit(p.page + path)
		shown := b.text(selector)
		transcript.Picture(t, "docs/"+file, shown, func() []byte { return b.pictureOf(selector) })
	}
}
