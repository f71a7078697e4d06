package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The user's environment must not send the tests to a real service.
func TestMain(m *testing.M) {
	_ = os.Unsetenv("PREPAID_BASE_URL")
	os.Exit(m.Run())
}

func runWith(t *testing.T, keypad keypad, args ...string) (code int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, keypad, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestDemonstration(t *testing.T) {
	t.Parallel()
	code, out, errOut := runWith(t, nil)
	require.Zero(t, code, out+errOut)
	require.Empty(t, errOut)
	for _, pin := range []string{"4821", "7350", "1234"} {
		require.NotRegexp(t, `\b`+pin+`\b`, out)
	}
}

// spy is the backend and records the data that reaches it.
type spy struct {
	relay
	messages         []string
	before, after    string // the step before or after which the test calls stop
	stop             func()
	validated, ended int
}

func (s *spy) Validate(ctx context.Context, message sealed) error {
	s.validated++
	return s.pass(ctx, "validate", message, s.relay.Validate)
}

func (s *spy) Execute(ctx context.Context, message sealed) error {
	s.ended++
	return s.pass(ctx, "execute", message, s.relay.Execute)
}

func (s *spy) pass(ctx context.Context, step string, message sealed, call func(context.Context, sealed) error) error {
	text, _ := json.Marshal(message)
	s.messages = append(s.messages, string(text), fmt.Sprintf("%+v", message))
	if s.before == step {
		s.stop()
	}
	err := call(ctx, message)
	if s.after == step {
		s.stop()
	}
	return err
}

// newChange returns a device on an emulator. Its cardholder wants the PIN 83926157.
func newChange(t *testing.T) (*emulated, *spy, *strings.Builder) {
	t.Helper()
	var text strings.Builder
	e, err := emulate(func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) })
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.srv.Close() })
	s := &spy{relay: e.relay, stop: func() {}}
	e.relay, e.keypad = s, scripted{"83926157", e.phone}
	return e, s, &text
}

func (e *emulated) pinNow() string { return e.srv.PINOf(e.backend.account) }

// The backend sees no PIN, no password, and no envelope twice.
func TestBackendSeesEnvelopesOnly(t *testing.T) {
	t.Parallel()
	e, s, text := newChange(t)
	require.NoError(t, e.changePIN(t.Context()))
	require.Equal(t, "83926157", e.pinNow())
	require.Len(t, s.messages, 4)
	for _, seen := range append(s.messages, text.String(), fmt.Sprint(e.srv.Requests())) {
		require.NotContains(t, seen, "83926157")
		require.NotContains(t, seen, e.phone())
	}
	var first, second sealed
	require.NoError(t, json.Unmarshal([]byte(s.messages[0]), &first))
	require.NoError(t, json.Unmarshal([]byte(s.messages[2]), &second))
	require.Equal(t, first.OperationID, second.OperationID)
	require.NotEqual(t, first.Envelope.IV, second.Envelope.IV)
	require.NotEqual(t, first.Envelope.EncryptedKey, second.Envelope.EncryptedKey)
}

// Each step fails in each way. The expected state is that of the emulator. No step runs twice or after a failure.
func TestFailures(t *testing.T) {
	t.Parallel()
	for step, next := range map[string]string{"initiate": "validate", "validate": "execute", "execute": "none"} {
		e, s, _ := newChange(t)
		for _, c := range []struct {
			name  string
			fault prepaidtest.Fault
			want  pinState
			says  string
		}{
			{"refused", prepaidtest.Respond(400, "invalid_request"), pinAsBefore, ""},
			{"lost, done", prepaidtest.CommitThenDrop(), pinUnknown, ""},
			{"lost, undone", prepaidtest.DropBeforeCommit(), pinUnknown, ""},
			{"failed", prepaidtest.Respond(500, "server_error"), pinUnknown, ""},
			{"proxy", prepaidtest.ProxyPage(200), pinUnknown, ""},
			{"not now", prepaidtest.TooManyRequests(time.Hour), pinAsBefore, "later"}, // last: the client pauses after it
		} {
			name := c.name
			e.backend.account = e.srv.AddAccount(prepaidtest.SeedAccount{})
			s.validated, s.ended = 0, 0
			before := len(e.srv.Requests())
			e.srv.Inject("POST /pin/"+step, c.fault)
			err := e.changePIN(t.Context())
			require.Error(t, err)
			known, advice := advise(err)
			want := c.want
			if step != "execute" {
				want = pinAsBefore
			}
			require.Equal(t, want, known, "%s %s", step, name)
			require.Contains(t, advice, c.says)
			require.NotContains(t, err.Error()+advice, "\n")
			if known == pinAsBefore {
				require.Empty(t, e.pinNow(), "%s %s", step, name)
			}
			sent := map[string]int{}
			for _, request := range e.srv.Requests()[before:] {
				sent[strings.TrimPrefix(request.Template, "/pin/")]++
			}
			require.Equal(t, 1, sent[step], "%s %s", step, name)
			require.Zero(t, sent[next], "%s %s", step, name)
			require.LessOrEqual(t, s.validated, 1)
			require.LessOrEqual(t, s.ended, 1)
		}
	}
}

// An unreadable response is still a response: the PIN is changed.
func TestUnreadableAnswer(t *testing.T) {
	t.Parallel()
	e, _, _ := newChange(t)
	e.srv.Inject("POST /pin/initiate", prepaidtest.RespondBody(200, "application/vnd.vendor+json", `{"id":"1"}`))
	err := e.changePIN(t.Context())
	require.ErrorIs(t, err, errNoOperation)
	known, advice := advise(err)
	require.Equal(t, pinAsBefore, known)
	require.Contains(t, advice, "A password may be on its way.")
	e.srv.Inject("POST /pin/execute", prepaidtest.RespondBody(204, "", ""))
	require.NoError(t, e.changePIN(t.Context()))
}

// Ctrl+C ends a change before its last step, never during it.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	e, s, _ := newChange(t)
	ctx, stop := context.WithCancel(t.Context())
	s.stop, s.after = stop, "validate"
	require.ErrorIs(t, e.changePIN(ctx), errStopped)
	require.Zero(t, s.ended)
	require.Empty(t, e.pinNow())

	ctx, stop = context.WithCancel(t.Context())
	s.stop, s.after, s.before = stop, "", "execute"
	require.NoError(t, e.changePIN(ctx))
	require.Equal(t, "83926157", e.pinNow())
}

func TestWeakPINIsNotSent(t *testing.T) {
	t.Parallel()
	e, _, _ := newChange(t)
	for pin, rule := range map[string]string{
		"": "be 4 to 12 digits", "123": "be 4 to 12 digits", "1234567890123": "be 4 to 12 digits", "48 1": "be 4 to 12 digits",
		"48２1": "be 4 to 12 digits", "0000": "not be one repeated digit", "2345": "not be a sequence of digits", "7890": "not be a sequence of digits",
		"9876": "not be a sequence of digits", "3210": "not be a sequence of digits",
	} {
		e.keypad = scripted{pin, e.phone}
		err := e.changePIN(t.Context())
		require.ErrorIs(t, err, errWeak)
		require.EqualError(t, err, "the new PIN is too weak: it must "+rule)
		require.Empty(t, e.srv.Requests())
	}
	require.Equal(t, "", brokenRule("4821"))
	require.Equal(t, "", brokenRule("1243"))
}

// Nothing is read from an input that could echo or store a PIN.
func TestInputIsNoTerminal(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "pins"))
	require.NoError(t, err)
	defer file.Close()
	_, err = terminal{file, io.Discard}.newPIN(t.Context())
	require.ErrorContains(t, err, "the input must be a terminal")
}

// The program uses a server in place of the service.
func TestService(t *testing.T) {
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	config := srv.Config()
	t.Setenv("PREPAID_BASE_URL", config.BaseURL)
	t.Setenv("PREPAID_VENDOR", config.Vendor)
	t.Setenv("PREPAID_ENVIRONMENT", "test")
	t.Setenv("PREPAID_CLIENT_ID", config.ClientID)
	t.Setenv("PREPAID_CLIENT_SECRET", config.ClientSecret.Reveal())
	certificate := filepath.Join(t.TempDir(), "operator.pem")
	require.NoError(t, os.WriteFile(certificate, srv.PINCertificate(), 0o600))
	id := srv.AddAccount(prepaidtest.SeedAccount{})

	typed := scripted{"7391", func() string { return srv.PINChanges(id)[0].OTP }}
	args := []string{"-account", string(id), "-certificate", certificate, "-device", "d1", "-ip", "203.0.113.7", "-hash", "SHA512"}
	code, out, errOut := runWith(t, typed, args...)
	require.Zero(t, code, errOut)
	require.Contains(t, out, "The new PIN is valid.")
	require.Equal(t, "7391", srv.PINOf(id))

	srv.Inject("POST /pin/initiate", prepaidtest.Respond(404, "account_not_found"))
	code, out, errOut = runWith(t, typed, args...)
	require.Equal(t, 1, code)
	require.Contains(t, out, "Check the account")
	require.Contains(t, errOut, "status 404")

	for _, wrong := range [][]string{args[:6], append(args, "-mgf1", "MD5"), append(args, "-certificate", "missing")} {
		code, _, errOut = runWith(t, typed, wrong...)
		require.Equal(t, 2, code, wrong)
		require.True(t, strings.HasPrefix(errOut, "pin: see -h: "), errOut)
	}
	t.Setenv("PREPAID_VENDOR", "")
	code, _, errOut = runWith(t, typed, args...)
	require.Equal(t, 2, code)
	require.Contains(t, errOut, "PREPAID_VENDOR")
}

// Exit status 3 means only that the state is unknown.
func TestExitStatusOfADoubt(t *testing.T) {
	t.Parallel()
	say := func(string, ...any) {}
	require.Equal(t, 3, conclude(&stepError{"execute", &prepaid.CallError{Outcome: prepaid.OutcomeUnknown}}, say, io.Discard))
	require.Equal(t, 1, conclude(&stepError{"validate", &prepaid.CallError{Outcome: prepaid.OutcomeUnknown}}, say, io.Discard))
}

func TestCommandLine(t *testing.T) {
	code, _, errOut := runWith(t, nil, "-h")
	require.Zero(t, code)
	require.Contains(t, errOut, "without echo")
	for _, args := range [][]string{{"-nonsense"}, {"4821"}, {"-account", "E1"}, {"-pin", "4821"}} {
		code, out, errOut := runWith(t, nil, args...)
		require.Equal(t, 2, code, args)
		require.Empty(t, out)
		require.Contains(t, errOut, "pin: see -h: ")
	}
}
