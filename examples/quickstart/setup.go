package main

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/webhook"
)

// quickstart is one run: its environment, and what it has created so far.
type quickstart struct {
	out      io.Writer
	config   prepaid.Config
	client   *prepaid.Client
	emulator *prepaidtest.Server // nil on the real test environment
	receiver *httptest.Server    // nil on the real test environment, which cannot reach it
	hookKey  prepaid.Secret
	messages chan *prepaid.Message

	company  prepaid.CompanyID
	program  string // client_id of the program's accounts
	float    prepaid.AccountID
	template string
	day      prepaid.Date  // of the loads
	again    bool          // an earlier run may have issued cards
	look     time.Duration // how long to search for a created card; the client's default if zero
	pause    time.Duration

	cards    []card
	step     int
	failures int
}

// card is an issued card, with its status when it was issued or found.
type card struct {
	key    string
	id     prepaid.AccountID
	status prepaid.AccountStatus
	load   prepaid.Amount
}

const hookKeyID = "quickstart-1"

// setUp sets what tearDown ends, also if it returns an error.
func setUp(out io.Writer, o options) (*quickstart, error) {
	q := &quickstart{out: out, day: o.day, again: o.again, pause: o.pause, messages: make(chan *prepaid.Message, 16)}
	if os.Getenv("PREPAID_BASE_URL") == "" {
		return q, q.setUpEmulator()
	}
	return q, q.setUpReal()
}

func (q *quickstart) setUpEmulator() error {
	var key [32]byte
	_, _ = rand.Read(key[:])
	q.hookKey = prepaid.NewSecret(hex.EncodeToString(key[:]))
	handler, err := webhook.NewHandler(webhook.Config{
		Verifier: webhook.HMAC{
			Header: "X-Signature", Encoding: webhook.EncodingHex, KeyForm: webhook.KeyDecoded, // the emulator's form
			Keys: webhook.StaticKeys{hookKeyID: q.hookKey},
		},
		OnTransaction: func(_ context.Context, m *prepaid.Message) error {
			q.messages <- m
			return nil
		},
	})
	if err != nil {
		return err
	}
	q.receiver = httptest.NewTLSServer(handler)
	roots := x509.NewCertPool()
	roots.AddCert(q.receiver.Certificate())
	if q.emulator, err = prepaidtest.Start(prepaidtest.WithWebhookRoots(roots)); err != nil {
		return err
	}
	q.company, q.program = prepaidtest.DefaultCompany, prepaidtest.DefaultProgramClientID
	q.float = q.emulator.AddAccount(prepaidtest.SeedAccount{Balance: "10000.00", Key: "float"})
	q.template, q.pause, q.look = prepaidtest.DailySettlement, 150*time.Millisecond, time.Second // nothing is late there
	q.config = q.emulator.Config()
	q.client, err = prepaid.NewClient(q.config)
	return err
}

func (q *quickstart) setUpReal() error {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	if config.Environment != prepaid.EnvironmentTest {
		return errors.New("PREPAID_ENVIRONMENT must be test: this program moves money and changes the policy")
	}
	company, err := strconv.ParseInt(os.Getenv("PREPAID_COMPANY_ID"), 10, 64)
	q.company, q.program = prepaid.CompanyID(company), os.Getenv("PREPAID_PROGRAM_CLIENT_ID")
	q.float, q.template = prepaid.AccountID(os.Getenv("PREPAID_FLOAT_ACCOUNT")), os.Getenv("PREPAID_REPORT_TEMPLATE")
	if err != nil || q.program == "" || q.float == "" {
		return errors.New("PREPAID_COMPANY_ID (a number), PREPAID_PROGRAM_CLIENT_ID and PREPAID_FLOAT_ACCOUNT are required; see -h")
	}
	q.config = config
	q.client, err = prepaid.NewClient(config)
	return err
}

func (q *quickstart) tearDown() {
	if q.client != nil {
		_ = q.client.Close()
	}
	if q.emulator != nil {
		_ = q.emulator.Close()
	}
	if q.receiver != nil {
		q.receiver.Close()
	}
}

// title starts a step.
func (q *quickstart) title(text string) {
	q.step++
	fmt.Fprintf(q.out, "\n%2d. %s\n", q.step, text)
}

// say prints a line of a step.
func (q *quickstart) say(format string, args ...any) { fmt.Fprintf(q.out, "    "+format+"\n", args...) }

// fail reports what went wrong, and what is known of its effect. A call that an interruption kept from being sent is
// not reported.
func (q *quickstart) fail(err error) {
	q.failures++
	if errors.Is(err, context.Canceled) && prepaid.OutcomeOf(err) != prepaid.OutcomeUnknown {
		return
	}
	q.say("FAILED: %v", err)
}

// table prints aligned columns; callers pad numbers.
func (q *quickstart) table(header string, lines func(w io.Writer)) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "    "+header)
	lines(w)
	_ = w.Flush()
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(q.out, strings.TrimRight(line, " \n"))
	}
}

// settle gives the service time to process a simulated action.
func (q *quickstart) settle(ctx context.Context) {
	timer := time.NewTimer(q.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
