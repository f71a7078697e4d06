package prepaid

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/cardprograms/prepaid/internal/exchange"
	"github.com/cardprograms/prepaid/internal/pause"
)

// ReportingService runs reports from templates, which alone decide the period and content. Use [Client].Reporting.
type ReportingService struct{ client *Client }

// RunReportParams is the input of a run. A method uses the fields it needs.
type RunReportParams struct {
	// IncludeColumnHeaders requests a header row. It is always sent. The reference does not say whether the service counts that row, so the
	// client accepts both counts: a single missing row can go unnoticed. Any other incomplete report is a *[ReportError].
	IncludeColumnHeaders bool
	WaitForPrevious      bool // makes Run wait until the template's unfinished run has finished, instead of returning [ErrConflict]
	// OnStart, if not nil, is called by Run with the run before waiting, so that you can store it. If it returns an error, Run ends.
	OnStart  func(ReportRun) error
	Interval time.Duration // the pause between polls; zero means a pause that grows from 1 s to 15 s
	// OnProgress, if not nil, is called after each poll and, while the report is read, about once per MiB.
	OnProgress func(ReportProgress)
}

func (p RunReportParams) check(v *validator) { v.limit("interval", int64(p.Interval)) }

// Start starts a run. It has an effect, although it is a GET: the template accepts no other run until this one has finished. Errors:
// [ErrConflict] while the last run is unfinished; [ErrBadRequest] for a wrong template name. A 400 may also be about the token (section
// 4.2): the built-in token manager then fetches a new token, at most one per second, and the start is sent once more. Other calls use that
// token only if the start succeeds. After [OutcomeUnknown] use Run with WaitForPrevious, which waits for the lost run. If the ID of a run
// is unusable, the error is a *[ReportError] with the run and outcome applied. Safety: never repeated. API: GET /reporting/templates/{templatename}.
func (s *ReportingService) Start(ctx context.Context, template string, params RunReportParams) (*ReportRun, error) {
	var v validator
	v.pathID("template", template)
	params.check(&v)
	r := request{
		op: opReportingStart, path: pathValues{template}, faults: v.faults,
		query: query{}.With("include_column_headers", strconv.FormatBool(params.IncludeColumnHeaders)),
	}
	run := &ReportRun{Template: template, RequestedAt: time.Now().UTC(), ColumnHeaders: params.IncludeColumnHeaders}
	return receive(ctx, s.client, r, func(a *response) (*ReportRun, error) {
		id, err := decodeReportID(a)
		switch {
		case err != nil:
			return nil, err
		case id == "" || id[0] == '{' || id[0] == '[': // an object or array is not an ID
			return nil, a.undecodable(errUnexpectedBody)
		}
		run.ID = id
		if resultRequest(*run, responseJSON, RunReportParams{}).faults != nil {
			return nil, &ReportError{Run: *run, Err: a.undecodable(errUnexpectedBody)}
		}
		return run, nil
	})
}

// decodeReportID reads the ID, which is plain text or a JSON string.
func decodeReportID(a *response) (string, error) {
	body := bytes.TrimSpace(a.body)
	if len(body) == 0 {
		return "", a.undecodable(errEmptyBody)
	}
	if !a.fromService() || body[0] == '<' {
		return "", a.undecodable(errUnexpectedBody)
	}
	if string(body) == "null" {
		return "", a.undecodable(errNull)
	}
	if body[0] != '"' {
		return string(body), nil
	}
	var text string
	if err := json.Unmarshal(body, &text, decodeOptions); err != nil {
		return "", a.undecodable(err)
	}
	return text, nil
}

func resultRequest(run ReportRun, kind responseKind, params RunReportParams) request {
	var v validator
	v.readID("template", run.Template)
	v.readID("id", run.ID)
	params.check(&v)
	op := opReportingResult
	op.kind = kind
	return request{op: op, path: pathValues{run.Template, run.ID}, faults: v.faults, bulk: true}
}

// Result requests a report once and returns it in memory, limited by Config.MaxResponseBytes, with the checks of [ReportReader.Read].
// Errors: a *[ReportError]; [ErrReportNotReady] while the run is processing; [ErrReportFailed] when it must be started again;
// [ErrBadRequest] for an unknown report or one older than 4 hours. Safety: read. API: GET
// /reporting/templates/{templatename}/reports/{reportid}.
func (s *ReportingService) Result(ctx context.Context, run ReportRun) (*Report, error) {
	r := resultRequest(run, responseJSON, RunReportParams{})
	return receive(ctx, s.client, r, func(a *response) (*Report, error) {
		if a.status == http.StatusNoContent {
			return nil, ErrReportNotReady
		}
		reader := newReportReader(run, io.NopCloser(bytes.NewReader(a.body)), nil)
		reader.mediaType = exchange.PrintableMediaType(a.mediaType)
		report, err := reader.Report()
		if failure, ok := errors.AsType[*ReportError](err); ok {
			return nil, failure
		}
		return report, err
	})
}

const (
	firstPollWait = time.Second
	lastPollWait  = 15 * time.Second
)

// pause returns the pause after the given poll, counted from 1.
func (p RunReportParams) pause(poll int) time.Duration {
	if p.Interval > 0 {
		return p.Interval
	}
	return min(firstPollWait<<min(poll-1, 10), lastPollWait)
}

// Open waits until a run is ready and streams its report. It can be repeated for 4 hours after the start. Close the reader. Errors: those
// of Result, but [ErrReportNotReady] only with the error of ctx, also if its deadline would pass before the next poll. After
// [ErrReportFailed] start again, best with WaitForPrevious. Safety: read. API: GET /reporting/templates/{templatename}/reports/{reportid}.
func (s *ReportingService) Open(ctx context.Context, run ReportRun, params RunReportParams) (*ReportReader, error) {
	for poll := 1; ; poll++ {
		reader, err := s.poll(ctx, run, poll, params)
		if err == nil || !errors.Is(err, ErrReportNotReady) {
			return reader, err
		}
		if params.OnProgress != nil {
			params.OnProgress(ReportProgress{Polls: poll})
		}
		if ended := pause.For(ctx, params.pause(poll)); ended != nil {
			return nil, interrupted(ended, err)
		}
	}
}

func (s *ReportingService) poll(ctx context.Context, run ReportRun, poll int, params RunReportParams) (*ReportReader, error) {
	r := resultRequest(run, responseStream, params)
	return receive(ctx, s.client, r, func(a *response) (*ReportReader, error) {
		if a.status == http.StatusNoContent {
			return nil, ErrReportNotReady
		}
		var progress func(ReportProgress)
		if params.OnProgress != nil {
			progress = func(p ReportProgress) {
				p.Polls = poll
				params.OnProgress(p)
			}
		}
		reader := newReportReader(run, a.stream, progress)
		reader.mediaType = exchange.PrintableMediaType(a.mediaType)
		return reader, nil
	})
}

// Run starts a report, waits for it and streams it. Close the reader. Errors: those of Start and Open. After the start they are in a
// *[ReportError] with the run. Except with [ErrReportFailed], the outcome is [OutcomeApplied]: open the run again. Another start is a
// conflict until the run ends. Safety: the start is never repeated. API: GET /reporting/templates/{templatename}, then GET
// /reporting/templates/{templatename}/reports/{reportid}.
func (s *ReportingService) Run(ctx context.Context, template string, params RunReportParams) (*ReportReader, error) {
	run, err := s.startInTurn(ctx, template, params)
	if err != nil {
		return nil, err
	}
	if params.OnStart != nil {
		if err := params.OnStart(*run); err != nil {
			return nil, &CallError{Operation: "Reporting.Run", Outcome: OutcomeApplied, Err: &ReportError{Run: *run, Err: err}}
		}
	}
	reader, err := s.Open(ctx, *run, params)
	if failure, ok := errors.AsType[*CallError](err); ok {
		failure.Operation = "Reporting.Run"
		if !errors.Is(err, ErrReportFailed) {
			failure.Outcome = OutcomeApplied // the run goes on
		}
		failure.Err = &ReportError{Run: *run, Err: failure.Err}
	}
	return reader, err
}

// startInTurn starts a run, after the previous one if WaitForPrevious is set.
func (s *ReportingService) startInTurn(ctx context.Context, template string, params RunReportParams) (*ReportRun, error) {
	for poll := 1; ; poll++ {
		run, err := s.Start(ctx, template, params)
		if err == nil || !params.WaitForPrevious || !errors.Is(err, ErrConflict) || OutcomeOf(err) != OutcomeRejected {
			return run, err
		}
		if ended := pause.For(ctx, params.pause(poll)); ended != nil {
			return nil, interrupted(ended, err)
		}
	}
}

// interrupted returns an error with two causes: last, the error of the latest call, and ended, the reason why the pause after that call was
// cut off.
func interrupted(ended, last error) error {
	failure := &CallError{Outcome: OutcomeOf(last), Err: &bothCauses{last: ended, earlier: last}}
	if call, ok := errors.AsType[*CallError](last); ok {
		*failure = *call
		failure.Err = &bothCauses{last: ended, earlier: call.Err}
	}
	return failure
}
