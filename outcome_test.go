package prepaid

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/tree"
	"github.com/cardprograms/prepaid/ratelimit"
)

// The comment of each method is the second reading of the reference: it has the request and the safety class.
func TestOperationsAgreeWithTheReference(t *testing.T) {
	t.Parallel()
	safetyOf := regexp.MustCompile(`[Ss]afety: (?:as \[?(?:\w+\.)?(\w+)|(?:the start is )?(\w+))`)
	comments := map[string]string{}
	for _, file := range tree.Source(t) {
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv != nil {
				receiver := strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*")
				comments[strings.TrimSuffix(receiver, "Service")+"."+f.Name.Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
			}
		}
	}
	for _, op := range allOperations() {
		service, _, _ := strings.Cut(op.Name, ".")
		class, comment := op.class.String(), comments[op.Name]
		if op.class == classToken {
			class, comment = "repeated", comments["Client.Token"]
		}
		require.Contains(t, comment, " API: "+op.Method+" "+op.Path+".", op.Name)
		safety := safetyOf.FindStringSubmatch(comment)
		require.Len(t, safety, 3, op.Name)
		if safety[1] != "" {
			safety = safetyOf.FindStringSubmatch(comments[service+"."+safety[1]])
			require.Len(t, safety, 3, op.Name)
		}
		require.Equal(t, class, safety[2], op.Name)
		require.Equal(t, op.class == classKeyed || service == "Funding", op.lane == ratelimit.Money, op.Name)
	}
}

// The settings in docs/safety.json are the defaults of Config, in seconds. TestSafetyFile writes the operations.
func TestSafetySettings(t *testing.T) {
	t.Parallel()
	c := Config{}.withDefaults()
	settings, err := json.Marshal(map[string]float64{
		"attempts": float64(c.Retry.MaxAttempts), "attempt_timeout": c.AttemptTimeout.Seconds(), "in_flight_wait": c.Retry.InFlightWait.Seconds(),
		"backoff_least": c.Retry.MinWait.Seconds(), "backoff_most": c.Retry.MaxWait.Seconds(), "retry_after_most": c.Retry.MaxRetryAfter.Seconds(),
		"throttle_least": minThrottlePause.Seconds(), "throttle_most": maxThrottlePause.Seconds(),
		"throttle_total": c.Retry.MaxThrottleWait.Seconds(), "request_id_age": (requestIDMaxAge + requestIDMaxAhead).Seconds(),
		"never_repeat_loads": map[bool]float64{true: 1}[c.NeverRepeatLoads],
	})
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join("docs", "safety.json"))
	require.NoError(t, err)
	line := regexp.MustCompile(`  "settings": .*`)
	require.Len(t, line.FindAll(text, -1), 1)
	renewed := line.ReplaceAllLiteralString(strings.ReplaceAll(string(text), "\r\n", "\n"), `  "settings": `+string(settings)+",")
	tree.Committed(t, "docs/safety.json", renewed)
}

// TestOperationsAreAllThere looks for operations in the source that Client.Do would not know.
func TestOperationsAreAllThere(t *testing.T) {
	t.Parallel()
	var found []string
	for _, file := range tree.Source(t) {
		for _, declaration := range file.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok || group.Tok != token.VAR {
				continue
			}
			for _, spec := range group.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if len(name.Name) > 2 && strings.HasPrefix(name.Name, "op") && unicode.IsUpper(rune(name.Name[2])) {
						found = append(found, name.Name)
					}
				}
			}
		}
	}
	require.Len(t, found, len(allOperations()), found)
}

// TestOperationsHaveGoMethods finds each row's method, and each exported service method's row: its own, or the row of
// the operation that it uses.
func TestOperationsHaveGoMethods(t *testing.T) {
	t.Parallel()
	forms := []string{
		"Accounts.SearchPage", "Accounts.SearchCompanyPage", "Accounts.TransactionsPage", "Accounts.Issue",
		"Accounts.FindCreated", "Accounts.FindMovement", "Accounts.DiagnoseTransfer", "Policy.MerchantCategoryCodesPage",
		"Policy.EnsureCategories", "Policy.EnsureMerchants", "Policy.EnsureTerminals", "Reporting.Open",
		"Reporting.Run", "Hooks.ListPage", "Hooks.UndeliverablePage",
	}
	names := slices.Clone(forms)
	for _, row := range reference.Read().Operations {
		names = append(names, row.Name)
	}
	names = append(names, "Accounts.NotBefore", "Accounts.AwaitRepeat", "Accounts.Evidence", "Accounts.UseEvidence") // compute, wait and remember
	client := reflect.TypeFor[*Client]()
	var methods []string
	for field := range client.Elem().Fields() {
		if !field.IsExported() {
			continue
		}
		require.NotZero(t, field.Type.NumMethod(), field.Name)
		for method := range field.Type.Methods() {
			methods = append(methods, field.Name+"."+method.Name)
		}
	}
	_, ok := client.MethodByName("Token")
	require.True(t, ok)
	methods = append(methods, "Token")
	require.ElementsMatch(t, names, methods)
}

// An outcome is text in JSON and reads back; other text is refused.
func TestOutcomeText(t *testing.T) {
	t.Parallel()
	for _, outcome := range []Outcome{OutcomeUnknown, OutcomeApplied, OutcomeRejected, OutcomeNotProcessed} {
		text, err := json.Marshal(outcome)
		require.NoError(t, err)
		require.Equal(t, strconv.Quote(outcome.String()), string(text))
		read := OutcomeApplied
		require.NoError(t, json.Unmarshal(text, &read))
		require.Equal(t, outcome, read)
	}
	read := OutcomeApplied
	for text, outcome := range map[string]Outcome{"outcome unknown": OutcomeUnknown, "not processed": OutcomeNotProcessed} { // of earlier versions
		require.NoError(t, read.UnmarshalText([]byte(text)))
		require.Equal(t, outcome, read)
	}
	read = OutcomeApplied
	for _, text := range []string{"", "outcome", "invalid", "outcome invalid", "Applied"} {
		require.EqualError(t, read.UnmarshalText([]byte(text)), "prepaid: invalid input: outcome must be one of the four outcomes, in words")
		require.Equal(t, OutcomeApplied, read, "unchanged")
	}
}

// The times of an error are those of the present wall clock, which was set during the call: a store that keeps them as JSON keeps the
// request's age. Times of synctest have no monotonic reading, so this uses the system clock, and does not wait for it.
func TestTimesAfterAStepOfTheClock(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Minute, -time.Minute, time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour} {
		sent := time.Now().Add(-30 * time.Second)
		*(*uint64)(unsafe.Pointer(&sent)) -= uint64(step/time.Second) << 30 //nolint:gosec // seconds of the wall clock; they may wrap
		rule := Config{}.repeatRule()
		k := call{
			core: &core{repeats: rule}, request: request{op: operation{class: classKeyed}},
			sent: sentRecord{count: 1, first: sent, latest: sent, last: sent}, unknown: errEarlierCall,
		}
		failure, ok := errors.AsType[*CallError](k.fail(OutcomeUnknown, errEarlierCall))
		require.True(t, ok)
		for at, want := range map[time.Time]time.Duration{
			failure.FirstSent: -30 * time.Second, failure.LastSent: -30 * time.Second, failure.NotBefore: rule.wait - 30*time.Second,
		} {
			age := at.Round(0).Sub(time.Now().Round(0)) - want
			require.Less(t, age.Abs(), 30*time.Second, step)
		}
	}
}
