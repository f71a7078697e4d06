package process

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/ratelimit"
)

// jobVariable has the job of a test process that does one.
const jobVariable = "PROCESS_TEST_JOB"

type job struct {
	Do       string // pay, resume, open or freeze
	Journal  string
	URL      string
	From, To prepaid.AccountID
	Day      prepaid.Date
	Payments int
	Attempts int // of a call of the client
	Sealed   bool
}

const (
	doPay    = "pay"
	doResume = "resume"
	doOpen   = "open"
	doFreeze = "freeze"
)

// Exit statuses of a job.
const (
	exitDone   = 0
	exitAgain  = 3 // payments are left
	exitLocked = 4
	exitOther  = 5
)

const (
	concurrency = 8
	attempt     = time.Second
	inFlight    = 200 * time.Millisecond
	// rest is how long a payment of unknown outcome waits before it is sent again.
	rest = attempt + inFlight
)

// command returns a process that does a job and is not started yet: this very program.
func command(t *testing.T, j job) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(j)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this very program
	cmd.Env = append(os.Environ(), jobVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	return cmd
}

func jobMain(text string) int {
	var j job
	err := json.Unmarshal([]byte(text), &j)
	switch {
	case err != nil:
	case j.Do == doOpen:
		err = j.open()
	case j.Do == doFreeze:
		err = j.freeze()
	default:
		err = j.pay()
	}
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errAgain):
		return exitAgain
	case errors.Is(err, journalfile.ErrLocked):
		return exitLocked
	}
	fmt.Fprintln(os.Stderr, j.Do, err)
	return exitOther
}

// open opens the journal, and keeps it open until standard input ends.
func (j job) open() error {
	file, err := journalfile.Open(j.Journal, journalfile.Options{})
	if err != nil {
		return err
	}
	fmt.Println("open")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	return file.Close()
}

var errAgain = errors.New("payments are left")

// options returns those of the journal.
func (j job) options() (options journalfile.Options, err error) {
	options.DigestKey = prepaid.NewSecret("key")
	if j.Sealed {
		options.Seal, err = journal.NewAEAD([]byte("0123456789abcdef0123456789abcdef"))
	}
	return options, err
}

func (j job) client(limit time.Duration) (*prepaid.Client, error) {
	return prepaid.NewClient(prepaid.Config{
		BaseURL: j.URL, Vendor: "vendor", TestEnvironment: true, InsecureHTTP: true,
		ClientID: "client", ClientSecret: prepaid.NewSecret("secret"),
		Limiter: ratelimit.None{}, AttemptTimeout: limit,
		Retry: prepaid.RetryPolicy{MaxAttempts: j.Attempts, MinWait: time.Millisecond, MaxWait: time.Millisecond, InFlightWait: inFlight},
	})
}

// freeze makes all payments at the same time, and again when standard input has a byte.
func (j job) freeze() error {
	client, err := j.client(time.Minute)
	if err != nil {
		return err
	}
	if err = j.payTogether(client, "before"); err != nil {
		return err
	}
	fmt.Println("kept")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	return j.payTogether(client, "after")
}

func (j job) payTogether(client *prepaid.Client, round string) error {
	errs := make([]error, j.Payments)
	var paying sync.WaitGroup
	for n := range errs {
		paying.Go(func() {
			_, errs[n] = client.Accounts.Transfer(context.Background(), j.From, prepaid.TransferParams{
				RequestID: prepaid.DeriveRequestID(j.Day, round, strconv.Itoa(n)), Amount: amountOf(n), DestinationAccountID: j.To,
				SourceReference: "PAY", DestinationReference: "PAY",
			})
		})
	}
	paying.Wait()
	return errors.Join(errs...)
}

// pay makes each payment once, like a payroll program. To resume, it needs only the file and the key.
func (j job) pay() error {
	client, err := j.client(attempt)
	if err != nil {
		return err
	}
	options, err := j.options()
	if err != nil {
		return err
	}
	file, err := journalfile.Open(j.Journal, options)
	if err != nil {
		return err
	}
	var entries iter.Seq2[journal.Entry, error]
	if entries = file.PayAll(context.Background(), client.Accounts, concurrency, j.list); j.Do == doResume {
		entries = file.Resume(context.Background(), client.Accounts, concurrency)
	}
	var failed error
	for _, err := range entries {
		if err != nil {
			failed = errAgain
		}
	}
	return errors.Join(failed, file.Close())
}

// list has even payments to a card, and odd ones to a bank. Four payments have the same amount.
func (j job) list(yield func(journal.Payment) bool) {
	for n := range j.Payments {
		p := journal.Payment{Account: j.From}
		if n%2 == 0 {
			p.Params = prepaid.TransferParams{
				RequestID: j.id(n), Amount: amountOf(n), DestinationAccountID: j.To, SourceReference: "PAY", DestinationReference: "PAY",
			}
		} else {
			p.Params = prepaid.DirectEntryOutParams{
				RequestID: j.id(n), Amount: amountOf(n), SourceReference: "PAY", DestinationReference: "PAY", BSB: "062000",
				Destination: prepaid.BankAccount{BSB: "062000", AccountNumber: "12345678", AccountName: "J CITIZEN"},
			}
		}
		if !yield(p) {
			return
		}
	}
}

func (j job) id(n int) prepaid.RequestID {
	return prepaid.DeriveRequestID(j.Day, "killed", strconv.Itoa(n))
}

func amountOf(n int) prepaid.Amount { return prepaid.Cents(int64(100 + n/4)) }
