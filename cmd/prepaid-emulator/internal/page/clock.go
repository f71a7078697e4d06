package page

import (
	"net/http"
	"strings"
	"time"
)

type clockData struct{ Entered string }

func (p *Page) clock(w http.ResponseWriter, r *http.Request) {
	p.show(w, r, http.StatusOK, "clock", layout{Title: "Clock", Section: "clock", Data: clockData{}, JSON: clockOf(p.server.Load())})
}

// maxStep limits the effect of a typing mistake, since the clock cannot go back.
const maxStep = 10 * 365 * 24 * time.Hour

// end is the last time that the clock can reach.
func end() time.Time { return time.Date(2200, time.December, 31, 23, 59, 59, 0, time.UTC) }

// advance moves the clock and returns to the button's page.
func (p *Page) advance(w http.ResponseWriter, r *http.Request) {
	entered := strings.TrimSpace(r.PostFormValue("by"))
	step, err := time.ParseDuration(entered)
	problem := ""
	switch {
	case err != nil || step <= 0 || step > maxStep:
		problem = "Enter a duration such as 90s, 5m or 36h, up to ten years."
	case step > end().Sub(p.server.Load().Now()):
		problem = "The clock ends with the year 2200."
	}
	if problem != "" {
		p.show(w, r, http.StatusUnprocessableEntity, "clock", layout{
			Title: "Clock", Section: "clock", Data: clockData{entered}, Problem: problem,
		})
		return
	}
	p.server.Load().Advance(step)
	back := "/clock"
	if r.PostFormValue("from") == "overview" {
		back = "/"
	}
	done(w, r, back, "clock", clockOf(p.server.Load()))
}
