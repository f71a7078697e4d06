package prepaid_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// An address without TLS is warned of once, without naming it.
func TestInsecureHTTPIsWarnedOf(t *testing.T) {
	t.Parallel()
	for address, warnings := range map[string]int{
		"http://emulator:8480": 1, "http://10.0.0.7": 1, "https://emulator": 0, "http://127.0.0.1:8480": 0, "http://localhost": 0,
	} {
		log := &recordingHandler{}
		config := credentialed(scripted(wellAnswered(opGet())))
		config.BaseURL, config.InsecureHTTP, config.Logger = address+"/3.0/", true, log.logger()
		config.TokenSource = numberedTokens()
		client := newCoreClient(t, config)
		for range 2 {
			require.NoError(t, opGet().call(t.Context(), client))
		}
		require.Equal(t, warnings, strings.Count(log.text(), `"level":"WARN"`), address)
		require.Equal(t, warnings, strings.Count(log.text(), "client secret, tokens and data travel in clear"))
		require.NotContains(t, log.text(), "emulator")
		require.NotContains(t, log.text(), "s3cret")
	}
}

// recordingHandler keeps the records of a logger as JSON.
type recordingHandler struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (h *recordingHandler) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.Write(p)
}

func (h *recordingHandler) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(h, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (h *recordingHandler) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.String()
}

func (h *recordingHandler) records(t *testing.T) []map[string]any {
	t.Helper()
	var list []map[string]any
	for decoder := json.NewDecoder(bytes.NewReader([]byte(h.text()))); decoder.More(); {
		var record map[string]any
		require.NoError(t, decoder.Decode(&record))
		list = append(list, record)
	}
	return list
}

// One record a call, its level by the outcome, and one for each attempt that is repeated.
func TestLogRecords(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		op      coreOp
		steps   []step
		level   string
		outcome string
		status  float64
		again   int
	}{
		"success":         {opGet(), []step{wellAnswered(opGet())}, "DEBUG", "applied", 200, 0},
		"after a repeat":  {opGet(), []step{answered(503, "", ""), broken(errCut), wellAnswered(opGet())}, "DEBUG", "applied", 200, 2},
		"rejected":        {opTransfer(), []step{serviceError(400, "invalid_request")}, "INFO", "rejected", 400, 0},
		"unreachable":     {opCreate(), []step{unreachable(syscall.ECONNREFUSED)}, "INFO", "not processed", 0, 2},
		"unknown":         {opCreate(), []step{broken(errCut)}, "ERROR", "outcome unknown", 0, 0},
		"unknown at last": {opTransfer(), []step{answered(502, "", ""), serviceError(403, "forbidden")}, "ERROR", "outcome unknown", 403, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log recordingHandler
				config := clockConfig(scripted(tc.steps...))
				config.Logger, config.Retry.MaxAttempts = log.logger(), 3
				err := tc.op.call(t.Context(), newCoreClient(t, config))
				records := log.records(t)
				require.Len(t, records, tc.again+1)
				for i, record := range records[:tc.again] {
					require.Equal(t, "prepaid: attempt failed", record["msg"])
					require.Equal(t, "WARN", record["level"])
					require.EqualValues(t, i+1, record["attempt"])
					require.Equal(t, tc.op.name, record["operation"])
					require.Positive(t, record["wait"])
					require.NotEmpty(t, record["error"])
				}
				last := records[tc.again]
				require.Equal(t, "prepaid: call", last["msg"])
				require.Equal(t, tc.level, last["level"])
				require.Equal(t, tc.outcome, last["outcome"])
				require.Equal(t, tc.op.name, last["operation"])
				require.Contains(t, last["path"], "/accounts")
				require.NotContains(t, last["path"], "acc-1", "the template")
				if tc.status == 0 {
					require.NotContains(t, last, "status")
				} else {
					require.Equal(t, tc.status, last["status"])
				}
				require.Equal(t, err != nil, last["error"] != nil)
			})
		})
	}
}

// No record holds a body, a query, a header, an id or the words of an answer.
func TestLogHoldsNoContent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log recordingHandler
		for _, fault := range []step{
			answered(200, vendorJSON, `[{"account_id":"CANARY","company_id":7,"balance":1,"status":"active","personal":{"first_name":"CANARY"}}]`, "X-TotalPages: 1", "X-Note: CANARY"),
			answered(200, vendorJSON, `[{"balance":"CANARY"}]`),
			answered(200, "text/html", htmlPage),
			answered(302, "", "", "Location: https://elsewhere.example/CANARY"),
			answered(503, vendorJSON, `{"error":"busy","error_description":"CANARY"}`),
			broken(errors.New("CUT")),
		} {
			config := credentialed(split{scripted(grant(1, "600")), scripted(fault)})
			config.Logger = log.logger()
			_, _ = collected(newCoreClient(t, config).Accounts.SearchCompany(t.Context(), 77123, prepaid.SearchCompanyParams{
				FirstName: "CANARY", LastName: "CANARY", Mobile: "CANARY", ProgramClientID: "CANARY",
			}))
		}
		text := log.text()
		for _, hidden := range []string{"CANARY", "77123", "issued-", "s3cret", "Bearer", "Basic", "cards.example", "first_name"} {
			require.NotContains(t, text, hidden)
		}
		require.Contains(t, text, "/accounts/company/{companyid}")
	})
}

// A logger that wants no debug records gets none.
func TestLogLevel(t *testing.T) {
	t.Parallel()
	var log recordingHandler
	config := coreConfig("https://cards.example")
	config.Transport = scripted(answered(503, "", ""), wellAnswered(opGet()))
	config.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
	require.NoError(t, opGet().call(context.WithoutCancel(t.Context()), newCoreClient(t, config)))
	require.Empty(t, log.text())
}
