package conformance

import (
	"encoding/csv"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

func reportCases() []Case {
	const start, result = "GET /reporting/templates/{templatename}", "GET /reporting/templates/{templatename}/reports/{reportid}"
	const flag = "?include_column_headers=false"
	return []Case{
		with("4.2", "unknown_template", start, func(p *probe) { p.get("reporting/templates/" + noAccount + flag).refused(400) }),
		with("4.2", "unknown_report", result, func(p *probe) {
			p.get("reporting/templates/" + url.PathEscape(p.target.ReportTemplate) + "/reports/" + unknownUUID).refused(400)
		}, "ReportTemplate"),
		with("4.2", "report_runs_once", result, func(p *probe) {
			path := "reporting/templates/" + url.PathEscape(p.target.ReportTemplate)
			id := p.get(path + flag).status(200).octets()
			if id == "" {
				return
			}
			path2 := path + "/reports/" + url.PathEscape(id)
			a := p.get(path2).status(200, 204)
			if a.code == 204 { // running: a second run is a duplicate
				if again := p.get(path + flag); again.code != 200 || p.get(path2).code == 204 {
					again.refused(409)
				}
			}
			for look := 0; a.code == 204 && !a.bad && look < 150; look++ {
				p.sleep(p.target.ReportWait)
				a = p.get(path2).status(200, 204)
			}
			body := a.status(200).object(reportShape())
			data, ok := body["reportdata"].(string)
			total, _ := body["totalrecords"].(json.Number)
			if !ok {
				return
			}
			reader := csv.NewReader(strings.NewReader(data))
			reader.FieldsPerRecord = -1
			rows, err := reader.ReadAll()
			if err != nil {
				p.failIn("2.11", "reportdata", "must be CSV")
			} else if string(total) != strconv.Itoa(len(rows)) {
				p.failIn("2.11", "totalrecords", "must be the number of records")
			}
		}, "ReportTemplate", "RunReports"),
	}
}
