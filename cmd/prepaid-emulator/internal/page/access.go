package page

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest"
)

type accessData struct {
	Tokens  []prepaidtest.AccessToken
	Pager   pager
	Windows []prepaidtest.RateWindow
	Others  int // addresses that are not shown
}

func (p *Page) access(w http.ResponseWriter, r *http.Request) {
	server := p.server.Load()
	data := accessData{Windows: server.RateWindows()}
	data.Tokens, data.Pager = paginate(r, server.AccessTokens(), listSize)
	if n := len(data.Windows); n > listSize {
		data.Windows, data.Others = data.Windows[:listSize], n-listSize
	}
	p.show(w, r, http.StatusOK, "access", layout{Title: "Access", Section: "access", Data: data, JSON: accessOf(server)})
}

func (p *Page) revoke(w http.ResponseWriter, r *http.Request) {
	server := p.server.Load()
	server.RevokeTokens()
	done(w, r, "/access", "revoked", accessOf(server))
}

// span rounds a duration for display.
func span(d time.Duration) string {
	whole := func(n time.Duration, unit string) string { return strconv.FormatInt(int64(n), 10) + " " + unit }
	switch {
	case d < 0:
		return "0 s"
	case d < time.Minute:
		return whole((d+time.Second-1)/time.Second, "s")
	case d < time.Hour:
		return whole(d/time.Minute, "min")
	case d < 48*time.Hour:
		return whole(d/time.Hour, "h") + " " + whole(d%time.Hour/time.Minute, "min")
	}
	return whole(d/(24*time.Hour), "days")
}

// runTone is the colour of the state of a report run.
func runTone(state string) string {
	return cmp.Or(map[string]string{prepaidtest.ReportReady: "good", prepaidtest.ReportProcessing: "calm"}[state], "dull")
}
