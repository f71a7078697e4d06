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
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
)

// errUsage is a wrong command line or environment.
var errUsage = errors.New("see -h")

// job is what the command line requests. The same file, run and date mean the same payments.
type job struct {
	file, journal, summary string
	run                    string
	date                   time.Time
	environment            prepaid.Environment
	float                  prepaid.AccountID
	rows                   int            // control total; 0 if not given
	sum                    prepaid.Amount // control total; zero if not given
	most                   prepaid.Amount // that a row may have; zero for any amount
	dryRun, retryRefused   bool
	workers                int
	stopAfter              int
}

// The client sends the request IDs of a day within these limits.
const (
	dayEarliest = 7 * 24 * time.Hour
	dayLatest   = 22 * 24 * time.Hour
)

// parseJob reads the command line.
func parseJob(args []string, environment prepaid.Environment, errOut io.Writer) (*job, error) {
	j := &job{environment: environment, float: prepaid.AccountID(os.Getenv("PREPAID_FLOAT_ACCOUNT"))}
	flags := flag.NewFlagSet("disburse", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line; -h shows everything
	flags.StringVar(&j.file, "file", "", "payments, a CSV `file` that starts with "+columns)
	flags.StringVar(&j.run, "run", "", "`name` of the run, such as payroll-2026-11")
	flags.TextVar((*day)(&j.date), "date", day{}, "`day` of the payments, such as 2026-11-30; the same each time the run is continued")
	flags.StringVar((*string)(&j.float), "float", string(j.float), "EAID of the `account` that pays; PREPAID_FLOAT_ACCOUNT when not given")
	flags.IntVar(&j.rows, "rows", 0, "`number` of payments that the file must have; not checked when 0")
	flags.TextVar(&j.sum, "sum", prepaid.Amount{}, "`amount` that the file must add up to; not checked when 0")
	flags.TextVar(&j.most, "max", prepaid.Amount{}, "largest `amount` that a row may have; not checked when 0")
	flags.StringVar(&j.journal, "journal", "", "`file` that records what was paid; default <run>.<environment>.journal in the directory of -file")
	flags.StringVar(&j.summary, "summary", "", "`file` to write the result to; default -file with .summary.csv appended")
	flags.BoolVar(&j.dryRun, "dry-run", false, "check everything, send no payment")
	flags.BoolVar(&j.retryRefused, "retry-refused", false, "send rows again that the service refused in earlier runs; never if the file has the same payment under a new key")
	flags.IntVar(&j.workers, "workers", 100, "maximum of concurrent payments; the rate limit is kept with any number")
	flags.IntVar(&j.stopAfter, "stop-after", 200, "stop after so many failed payments in a row")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(errOut)
			fmt.Fprint(errOut, usage)
			flags.PrintDefaults()
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%w: it takes flags only", errUsage)
	}
	if j.journal == "" {
		j.journal = j.defaultJournal()
	}
	if j.summary == "" {
		j.summary = j.file + ".summary.csv"
	}
	return j, j.check(time.Now())
}

func (j *job) check(now time.Time) error {
	invalid := &prepaid.ValidationError{}
	for _, rule := range []struct {
		ok         bool
		flag, text string
	}{
		{j.file != "", "-file", "is required"},
		{isName(j.run, longestRun), "-run", nameRule(longestRun)},
		{!j.date.IsZero(), "-date", "is required"},
		{j.date.IsZero() || j.date.Sub(now) <= dayEarliest && now.Sub(j.date) <= dayLatest, "-date", "must be at most 7 days ahead and 22 days ago: the service forgets request IDs"},
		{isName(string(j.float), longestAccount), "-float", nameRule(longestAccount)},
		{j.rows >= 0, "-rows", "must not be negative"},
		{j.sum.Sign() >= 0, "-sum", "must not be negative"},
		{j.most.Sign() >= 0, "-max", "must not be negative"},
		{j.workers > 0, "-workers", "must be above zero"},
		{j.stopAfter > 0, "-stop-after", "must be above zero"},
		{j.file == "" || differ(j.file, j.journal, j.summary, j.summary+temporary), "-file, -journal and -summary", "must be different files"},
	} {
		if !rule.ok {
			invalid.Faults = append(invalid.Faults, prepaid.Fault{Field: rule.flag, Rule: rule.text})
		}
	}
	if len(invalid.Faults) > 0 {
		return invalid
	}
	return nil
}

// defaultJournal is named after the run and not after the file, so that a corrected file with another name finds what
// was paid from the first one. The name does not contain the date: then a run with a wrong date finds it as well.
func (j *job) defaultJournal() string {
	environment := cmp.Or(string(j.environment), "production")
	return filepath.Join(filepath.Dir(j.file), j.run+"."+environment+".journal")
}

func differ(paths ...string) bool {
	seen := make(map[string]bool)
	for _, path := range paths {
		whole, err := filepath.Abs(path)
		if err != nil || seen[whole] {
			return false
		}
		seen[whole] = true
	}
	return true
}

// requestID is the same each time the run is continued. It depends on the environment, so that the journal of a
// rehearsal is not taken for that of the real run.
func (j *job) requestID(p payment) prepaid.RequestID {
	return prepaid.DeriveRequestID(prepaid.DateOf(j.date), "disburse", string(j.environment), j.run, p.key)
}

// params is what is sent for a row.
func (j *job) params(p payment) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: j.requestID(p), Amount: p.amount, DestinationAccountID: p.account, Type: prepaid.TransferTypeLoad,
		SourceReference:      j.sourceReference(p),
		DestinationReference: p.reference,
	}
}

// sourceReference identifies the row in the float account's history, and differs for a row with another account or
// amount that was sent under the same key: its last part is the start of a hash of both.
func (j *job) sourceReference(p payment) string {
	sum := sha256.Sum256([]byte(string(p.account) + " " + p.amount.String()))
	return fmt.Sprintf("%s/%s/%x", j.run, p.key, sum[:4])
}

// ownReference returns the part of this run's source reference that contains run and key. For any other text, and for
// one that the service has truncated or rewritten, ok is false.
func (j *job) ownReference(text string) (named string, ok bool) {
	key, hash, ok := strings.Cut(strings.TrimPrefix(text, j.run+"/"), "/")
	ok = ok && strings.HasPrefix(text, j.run+"/") && isName(key, longestKey) && len(hash) == 8 && strings.Trim(hash, "0123456789abcdef") == ""
	return j.run + "/" + key, ok
}

// day parses a calendar day, at midnight UTC wherever the program runs.
type day time.Time

func (d *day) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		return prepaid.ErrDateSyntax
	}
	*d = day(at)
	return nil
}

func (d day) MarshalText() ([]byte, error) {
	if time.Time(d).IsZero() {
		return nil, nil
	}
	return []byte(time.Time(d).Format(time.DateOnly)), nil
}
