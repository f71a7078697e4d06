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

// job is what the command line asks for. File, run and date, given again, mean the same payments.
type job struct {
	file, journal, summary string
	run                    string
	date                   time.Time
	environment            prepaid.Environment
	float                  prepaid.AccountID
	rows                   int            // control total; 0 when not given
	sum                    prepaid.Amount // control total; zero when not given
	most                   prepaid.Amount // a row may have; zero for any amount
	dryRun, retryRefused   bool
	workers                int
	stopAfter              int
}

// The window in which the client sends the request ids of a day.
const (
	dayEarliest = 7 * 24 * time.Hour
	dayLatest   = 22 * 24 * time.Hour
)

// parseJob reads the command line.
func parseJob(args []string, environment prepaid.Environment, errOut io.Writer) (*job, error) {
	j := &job{environment: environment, float: prepaid.AccountID(os.Getenv("PREPAID_FLOAT_ACCOUNT"))}
	flags := flag.NewFlagSet("disburse", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line; -h shows all
	flags.StringVar(&j.file, "file", "", "payments, a CSV `file` that begins with "+columns)
	flags.StringVar(&j.run, "run", "", "`name` of the run, such as payroll-2026-11")
	flags.TextVar((*day)(&j.date), "date", day{}, "`day` of the payments, such as 2026-11-30; the same each time the run is continued")
	flags.StringVar((*string)(&j.float), "float", string(j.float), "EAID of the `account` that pays; PREPAID_FLOAT_ACCOUNT when not given")
	flags.IntVar(&j.rows, "rows", 0, "`number` of payments that the file must have; not checked when 0")
	flags.TextVar(&j.sum, "sum", prepaid.Amount{}, "`amount` that the file must add up to; not checked when 0")
	flags.TextVar(&j.most, "max", prepaid.Amount{}, "largest `amount` that a row may have; not checked when 0")
	flags.StringVar(&j.journal, "journal", "", "`file` that remembers what was paid; <run>.<environment>.journal beside -file when empty")
	flags.StringVar(&j.summary, "summary", "", "`file` to write the result to; that of -file with .summary.csv when empty")
	flags.BoolVar(&j.dryRun, "dry-run", false, "check and tell, send no payment")
	flags.BoolVar(&j.retryRefused, "retry-refused", false, "send again what the service refused in earlier runs; never with a new key for the same payment in the file")
	flags.IntVar(&j.workers, "workers", 100, "payments under way at once, at most; the rate limit is kept whatever it is")
	flags.IntVar(&j.stopAfter, "stop-after", 200, "stop when so many payments in a row were not made")
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
		{j.date.IsZero() || j.date.Sub(now) <= dayEarliest && now.Sub(j.date) <= dayLatest, "-date", "must be at most 7 days ahead and 22 days ago: the service forgets request ids"},
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

// defaultJournal is named after the run and not after the file, so that a corrected file under another name meets what was
// paid from the first. The date is left out: another one by mistake meets it as well.
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

// requestID is the same whenever the run is continued. The environment is part of it, so that the journal of a
// rehearsal is not taken for that of the real run.
func (j *job) requestID(p payment) prepaid.RequestID {
	return prepaid.DeriveRequestID(j.date, "disburse", string(j.environment), j.run, p.key)
}

// params is what is sent for a row.
func (j *job) params(p payment) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: j.requestID(p), Amount: p.amount, DestinationAccountID: p.account, Type: prepaid.TransferTypeLoad,
		SourceReference:      j.sourceReference(p),
		DestinationReference: p.reference,
	}
}

// sourceReference finds the row in the float account's history, and distinguishes a row of another account or amount that
// was sent under the same key: its last part is the begin of a hash of both.
func (j *job) sourceReference(p payment) string {
	sum := sha256.Sum256([]byte(string(p.account) + " " + p.amount.String()))
	return fmt.Sprintf("%s/%s/%x", j.run, p.key, sum[:4])
}

// ownReference returns the part of a source reference of this run that names run and key. Of any other text, and of one
// that the service has cut or rewritten, ok is false.
func (j *job) ownReference(text string) (named string, ok bool) {
	key, hash, ok := strings.Cut(strings.TrimPrefix(text, j.run+"/"), "/")
	ok = ok && strings.HasPrefix(text, j.run+"/") && isName(key, longestKey) && len(hash) == 8 && strings.Trim(hash, "0123456789abcdef") == ""
	return j.run + "/" + key, ok
}

// day reads a calendar day, at midnight UTC wherever the program runs.
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
