package conformance

import (
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
)

func reportCases() []Case {
	const start, result = "Reporting.Start", "Reporting.Result"
	return []Case{with("4.2", "report_runs_once", result, nil, func(p *probe) {
		id := p.call(start, nil).ok().Text()
		poll := func() *response { return p.call(result, values{"reportid": id}).ok() }
		r := poll()
		if r.Status == 204 { // running: a second run is a duplicate
			if again := p.call(start, nil); again.Status != 200 || poll().Status == 204 {
				again.refused("", 409)
			}
		}
		for look := 0; r.Status == 204 && look < 150; look++ {
			p.sleep(p.target.ReportWait)
			r = poll()
		}
		body := r.is(200).object()
		data, _ := body["reportdata"].(string)
		reader := csv.NewReader(strings.NewReader(data))
		reader.FieldsPerRecord = -1
		rows, err := reader.ReadAll()
		if err != nil {
			p.failIn("2.11", "reportdata", "must be CSV")
		} else if body["totalrecords"] != json.Number(strconv.Itoa(len(rows))) {
			p.failIn("2.11", "totalrecords", "must be the number of records")
		}
	}, "RunReports")}
}
