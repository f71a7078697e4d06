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

// maxStep is ten years: beyond it dates leave the four digits of their form sooner or later.
const maxStep = 10 * 365 * 24 * time.Hour

// advance moves the clock and leads back to where the button was.
func (p *Page) advance(w http.ResponseWriter, r *http.Request) {
	entered := strings.TrimSpace(r.PostFormValue("by"))
	step, err := time.ParseDuration(entered)
	if err != nil || step <= 0 || step > maxStep {
		p.show(w, r, http.StatusUnprocessableEntity, "clock", layout{
			Title: "Clock", Section: "clock", Data: clockData{entered},
			Problem: "Enter a duration such as 90s, 5m or 36h, up to ten years.",
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
