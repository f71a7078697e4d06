package prepaid_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// An address without TLS causes one warning that does not name it.
func TestInsecureHTTPIsWarnedOf(t *testing.T) {
	t.Parallel()
	for address, warnings := range map[string]int{
		"http://emulator:8480": 1, "http://10.0.0.7": 1, "https://emulator": 0, "http://127.0.0.1:8480": 0, "http://localhost": 0,
	} {
		log := &recordingHandler{}
		config := harness.CredentialsConfig(harness.NewScript(harness.Succeed(harness.OpGet())))
		config.BaseURL, config.InsecureHTTP, config.Logger = address+"/3.0/", true, log.logger()
		config.Token = harness.NumberedTokens("token-")
		client := harness.NewClient(t, config)
		for range 2 {
			require.NoError(t, harness.OpGet().Call(t.Context(), client))
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

// Each call has one record, with a level by outcome; each repeated attempt has one, too.
func TestLogRecords(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		op      harness.Op
		steps   []harness.Step
		level   string
		outcome string
		status  float64
		again   int
	}{
		"success":         {harness.OpGet(), []harness.Step{harness.Succeed(harness.OpGet())}, "DEBUG", "applied", 200, 0},
		"after a repeat":  {harness.OpGet(), []harness.Step{harness.Respond(503, "", ""), harness.Broken(harness.ErrCut), harness.Succeed(harness.OpGet())}, "DEBUG", "applied", 200, 2},
		"paid":            {harness.OpTransfer(), []harness.Step{harness.Broken(harness.ErrCut), harness.Succeed(harness.OpTransfer())}, "INFO", "applied", 200, 1},
		"rejected":        {harness.OpTransfer(), []harness.Step{harness.ServiceError(400, "invalid_request")}, "INFO", "rejected", 400, 0},
		"unreachable":     {harness.OpCreate(), []harness.Step{harness.Unreachable(syscall.ECONNREFUSED)}, "INFO", "not_processed", 0, 2},
		"unknown":         {harness.OpCreate(), []harness.Step{harness.Broken(harness.ErrCut)}, "ERROR", "unknown", 0, 0},
		"unknown at last": {harness.OpTransfer(), []harness.Step{harness.Respond(502, "", ""), harness.ServiceError(403, "forbidden")}, "ERROR", "unknown", 403, 1},
	} {
		bubble(t, name, func(t *testing.T) {
			var log recordingHandler
			config := harness.ClockConfig(harness.NewScript(tc.steps...))
			config.Logger, config.Retry.MaxAttempts = log.logger(), 3
			err := tc.op.Call(t.Context(), harness.NewClient(t, config))
			records := slices.DeleteFunc(log.records(t), func(record map[string]any) bool { return record["operation"] == "Accounts.Summary" }) // before the repeat
			require.Len(t, records, tc.again+1)
			for i, record := range records[:tc.again] {
				require.Equal(t, "prepaid: attempt failed", record["msg"])
				require.Equal(t, "WARN", record["level"])
				require.EqualValues(t, i+1, record["attempt"])
				require.Equal(t, tc.op.Name, record["operation"])
				require.Positive(t, record["wait"])
				require.NotEmpty(t, record["error"])
			}
			last := records[tc.again]
			require.Equal(t, "prepaid: call", last["msg"])
			require.Equal(t, tc.level, last["level"])
			require.Equal(t, tc.outcome, last["outcome"])
			require.Equal(t, tc.op.Name, last["operation"])
			require.Contains(t, last["path"], "/accounts")
			require.NotContains(t, last["path"], "acc-1", "the template")
			if tc.status == 0 {
				require.NotContains(t, last, "status")
			} else {
				require.Equal(t, tc.status, last["status"])
			}
			require.Equal(t, err != nil, last["error"] != nil)
			if tc.op.Name == harness.OpTransfer().Name {
				for _, record := range records {
					require.NotEmpty(t, record["request_id"])
				}
				if err != nil { // a wrapped error in another record has it too
					require.Contains(t, err.Error(), ", request_id "+last["request_id"].(string))
				}
			}
		})
	}
}

// No record holds a body, a query, a header, an id or the words of a response.
func TestLogHoldsNoContent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log recordingHandler
		for _, fault := range []harness.Step{
			harness.Respond(200, harness.VendorJSON, `[{"account_id":"CANARY","company_id":7,"balance":1,"status":"active","personal":{"first_name":"CANARY"}}]`, "X-TotalPages: 1", "X-Note: CANARY"),
			harness.Respond(200, harness.VendorJSON, `[{"balance":"CANARY"}]`),
			harness.Respond(200, "text/html", harness.HTMLPage),
			harness.Respond(302, "", "", "Location: https://elsewhere.example/CANARY"),
			harness.Respond(503, harness.VendorJSON, `{"error":"busy","error_description":"CANARY"}`),
			harness.Broken(errors.New("CUT")),
		} {
			config := harness.CredentialsConfig(harness.Split{Tokens: harness.NewScript(harness.Grant(1, "600")), Calls: harness.NewScript(fault)})
			config.Logger = log.logger()
			_, _ = collected(harness.NewClient(t, config).Accounts.SearchCompany(t.Context(), 771239055120463, prepaid.SearchCompanyParams{
				FirstName: "CANARY", LastName: "CANARY", Mobile: "CANARY", ProgramClientID: "CANARY",
			}))
		}
		text := log.text()
		for _, hidden := range []string{"CANARY", "771239055120463", "issued-", "s3cret", "Bearer", "Basic", "cards.example", "first_name"} {
			require.NotContains(t, text, hidden)
		}
		require.Contains(t, text, "/accounts/company/{companyid}")
	})
}
