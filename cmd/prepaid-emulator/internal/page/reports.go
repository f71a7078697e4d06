package page

import (
	"bufio"
	"net/http"
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest"
)

type reportsData struct {
	Templates []reportTemplate
	Runs      []prepaidtest.ReportRun
	Pager     pager
}

// reportTemplate is a template with its newest run.
type reportTemplate struct {
	Name string
	Runs int
	Last prepaidtest.ReportRun
}

func (p *Page) reports(w http.ResponseWriter, r *http.Request) {
	server := p.server.Load()
	var data reportsData
	runs := server.ReportRuns()
	slices.Reverse(runs)
	for _, name := range server.ReportTemplates() {
		t := reportTemplate{Name: name}
		for _, run := range runs {
			if run.Template != name {
				continue
			}
			if t.Runs++; t.Runs == 1 {
				t.Last = run
			}
		}
		data.Templates = append(data.Templates, t)
	}
	data.Runs, data.Pager = paginate(r, runs, listSize)
	p.show(w, r, http.StatusOK, "reports", layout{Title: "Reports", Section: "reports", Data: data})
}

// download sends the CSV text of a run.
func (p *Page) download(w http.ResponseWriter, r *http.Request) {
	server, id := p.server.Load(), r.PathValue("id")
	runs := server.ReportRuns()
	i := slices.IndexFunc(runs, func(run prepaidtest.ReportRun) bool { return run.ID == id && run.State == prepaidtest.ReportReady })
	if i < 0 {
		p.notFound(w, r, "There is no such report, or it is not ready, or it has expired.")
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="report.csv"`)
	begun := false
	text := bufio.NewWriterSize(noting{w, &begun}, 32<<10)
	if _, err := server.WriteReport(text, id); err == nil {
		_ = text.Flush() // fails if the reader has disconnected
	} else if begun {
		panic(http.ErrAbortHandler) // makes net/http cut the response, which is incomplete
	} else {
		w.Header().Del("Content-Disposition")
		p.show(w, r, http.StatusInternalServerError, "problem", layout{Title: "No report", Section: "reports", Problem: "The template's function failed. Start another run."})
	}
}

// noting is a writer that notes whether anything was written.
type noting struct {
	http.ResponseWriter
	begun *bool
}

// Write implements io.Writer.
func (n noting) Write(text []byte) (int, error) {
	*n.begun = true
	return n.ResponseWriter.Write(text)
}
