package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cardprograms/prepaid"
)

// job has the values of the command line. The same file, run and date mean the same payments.
type job struct {
	file, run            string
	date                 prepaid.Date
	environment          string // "test", or empty for production
	float                prepaid.AccountID
	rows                 int            // control total; 0 if not given
	sum                  prepaid.Amount // control total; zero if not given
	dryRun, retryRefused bool
}

// dayEarliest is how long before a day the client sends its request IDs.
const dayEarliest = 7 * 24 * time.Hour

func parseJob(args []string, test bool, errOut io.Writer) (*job, error) {
	j := &job{float: prepaid.AccountID(os.Getenv("PREPAID_FLOAT_ACCOUNT"))}
	if test {
		j.environment = "test"
	}
	flags := flag.NewFlagSet("disburse", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller prints the error
	flags.StringVar(&j.file, "file", "", "payments, a CSV `file` that starts with "+columns)
	flags.StringVar(&j.run, "run", "", "`name` of the run, such as payroll-2026-11")
	flags.TextVar(&j.date, "date", prepaid.Date{}, "`day` of the payments, such as 2026-11-30; the same each time the run is continued")
	flags.StringVar((*string)(&j.float), "float", string(j.float), "EAID of the `account` that pays; PREPAID_FLOAT_ACCOUNT when not given")
	flags.IntVar(&j.rows, "rows", 0, "`number` of payments that the file must have; not checked when 0")
	flags.TextVar(&j.sum, "sum", prepaid.Amount{}, "`amount` that the file must add up to; not checked when 0")
	flags.BoolVar(&j.dryRun, "dry-run", false, "check everything, send no payment")
	flags.BoolVar(&j.retryRefused, "retry-refused", false,
		"send rows again that the service refused in earlier runs; never if the file has the same payment under a new key")
	flags.Usage = func() {
		fmt.Fprint(errOut, usage)
		flags.SetOutput(errOut)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, errors.New("it takes flags only; see -h")
	}
	return j, j.check(time.Now())
}

func (j *job) check(now time.Time) error {
	var faults []prepaid.Fault
	rule := func(ok bool, flag, text string) {
		if !ok {
			faults = append(faults, prepaid.Fault{Field: flag, Rule: text})
		}
	}
	rule(j.file != "", "-file", "is required")
	rule(isName(j.run), "-run", nameRule)
	rule(!j.date.IsZero() && !j.requestID(payment{}).Expired(now), "-date",
		"must be at most 7 days ahead and 21 days ago, in UTC: the service forgets request IDs")
	rule(isName(string(j.float)), "-float", nameRule)
	if len(faults) > 0 {
		return &prepaid.ValidationError{Faults: faults}
	}
	return nil
}

// journal returns the journal's path. It has the name of the run and not of the file, so that a corrected file with another
// name finds the payments of the first file. The path has no date, so that a run with a wrong date finds the journal too.
func (j *job) journal() string {
	environment := cmp.Or(j.environment, "production")
	return filepath.Join(filepath.Dir(j.file), j.run+"."+environment+".journal")
}

func (j *job) summary() string { return j.file + ".summary.csv" }

// requestID returns the same ID each time the run is continued. The ID depends on the environment, so that the
// journal of a rehearsal does not count as the journal of the real run.
func (j *job) requestID(p payment) prepaid.RequestID {
	return prepaid.DeriveRequestID(j.date, "disburse", j.environment, j.run, p.key)
}

func (j *job) params(p payment) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: j.requestID(p), Amount: p.amount, DestinationAccountID: p.account, Type: prepaid.TransferTypeLoad,
		SourceReference: j.sourceReference(p), DestinationReference: p.reference,
	}
}

// sourceReference identifies the row in the history of the float account. The last part is the start of a hash of account and
// amount: this part differs if a row with the same key was sent with another account or amount.
func (j *job) sourceReference(p payment) string {
	sum := sha256.Sum256([]byte(string(p.account) + " " + p.amount.String()))
	return fmt.Sprintf("%s%x", j.ownReferences(p), sum[:4])
}

// ownReferences returns the prefix of all source references that were ever sent for the key of a row.
func (j *job) ownReferences(p payment) string { return j.run + "/" + p.key + "/" }
