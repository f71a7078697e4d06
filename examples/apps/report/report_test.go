package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The user's environment must not send the tests to a real service.
func TestMain(m *testing.M) {
	_ = os.Unsetenv("PREPAID_BASE_URL")
	goleak.VerifyTestMain(m)
}

// service replaces the real service by an emulator.
func service(t *testing.T, options prepaidtest.Options) *prepaidtest.Server {
	t.Helper()
	srv := prepaidtest.NewServer(t, options)
	config := srv.Config()
	t.Setenv("PREPAID_BASE_URL", config.BaseURL)
	t.Setenv("PREPAID_VENDOR", config.Vendor)
	t.Setenv("PREPAID_ENVIRONMENT", "test")
	t.Setenv("PREPAID_CLIENT_ID", config.ClientID)
	t.Setenv("PREPAID_CLIENT_SECRET", config.ClientSecret.Reveal())
	return srv
}

func runWith(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// content maps the name of each file in a directory to its text.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	files := map[string]string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		require.NoError(t, err)
		files[entry.Name()] = string(text)
	}
	return files
}

const balances = "account,balance\nEA1,25.50\nEA2,74.50\n"

func TestDemonstration(t *testing.T) {
	dir := t.TempDir()
	code, out, errOut := runWith(t, "-file", filepath.Join(dir, "rows"))
	require.Zero(t, code, out+errOut)
	require.Empty(t, errOut)
	files := content(t, dir)
	require.Len(t, files, 1, "the partial file has ended")
	require.Equal(t, madeUpRows+1, strings.Count(files["rows"], "\n")-strings.Count(files["rows"], ",\nand left"))
}

// The emulator's report is written as rows and as objects.
func TestFormats(t *testing.T) {
	srv := service(t, prepaidtest.Options{})
	srv.AddReport("movements", func(w io.Writer, headers bool) (int, error) { return writeMadeUp(w, headers, 100) })
	file := filepath.Join(t.TempDir(), "rows")
	read := func(format string) string {
		code, out, errOut := runWith(t, "-template", "movements", "-format", format, "-file", file)
		require.Zero(t, code, out+errOut)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(text)
	}
	rows, err := csv.NewReader(strings.NewReader(read("csv"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 101)
	objects := strings.Split(strings.TrimSuffix(read("jsonl"), "\n"), "\n")
	require.Len(t, objects, 100)
	for i, line := range objects {
		require.Regexp(t, `^\{"id":.*"account_id":.*"note":`, line, "in the order of the columns")
		var object map[string]string
		require.NoError(t, json.Unmarshal([]byte(line), &object))
		require.Len(t, object, len(rows[0]))
		for column, name := range rows[0] {
			require.Equal(t, rows[i+1][column], object[name])
		}
	}
	require.Equal(t, "said \"thank you\",\nand left", rows[98][5])
}

func TestService(t *testing.T) {
	srv := service(t, prepaidtest.Options{})
	srv.AddReportCSV("balances", balances)
	t.Chdir(t.TempDir())
	code, out, errOut := runWith(t, "-template", "balances")
	require.Zero(t, code, out+errOut)
	require.Contains(t, out, "complete: 2 rows are in "+filepath.Join("out", "balances.csv")+", and the service counted 2")
	require.Equal(t, map[string]string{"balances.csv": balances}, content(t, "out"))
}

// A download that breaks off leaves the old file unchanged and the complete rows next to it. Resuming the run gives the whole report.
func TestBrokenAndResumed(t *testing.T) {
	srv := service(t, prepaidtest.Options{})
	var whole atomic.Bool
	srv.AddReport("movements", func(w io.Writer, headers bool) (int, error) {
		if whole.Load() {
			return writeMadeUp(w, headers, 6000)
		}
		records, err := writeMadeUp(w, headers, 5000)
		return records, errors.Join(err, errBroken)
	})
	dir := t.TempDir()
	file := filepath.Join(dir, "rows.csv")
	require.NoError(t, os.WriteFile(file, []byte("yesterday's"), 0o600))

	code, out, errOut := runWith(t, "-template", "movements", "-file", file)
	require.Equal(t, 3, code, errOut)
	id := regexp.MustCompile(`run (\S+), available until`).FindStringSubmatch(out)[1]
	require.Contains(t, errOut, "not finished, continue with -resume "+id)
	require.Contains(t, errOut, "report incomplete after ")
	files := content(t, dir)
	require.Len(t, files, 2)
	require.Equal(t, "yesterday's", files["rows.csv"])
	rows, err := csv.NewReader(strings.NewReader(files["rows.csv.partial"])).ReadAll()
	require.NoError(t, err, "whole rows only")
	require.Contains(t, out, fmt.Sprintf("incomplete: the first %d rows, %d with the header row, are in ", len(rows)-1, len(rows)))

	whole.Store(true)
	code, out, errOut = runWith(t, "-template", "movements", "-file", file, "-resume", id)
	require.Zero(t, code, errOut)
	require.Contains(t, out, "run "+id+", started earlier\ncomplete: 6000 rows")
	files = content(t, dir)
	require.Len(t, files, 1)
	require.Equal(t, 6001, countRows(t, files["rows.csv"]))
	starts := 0
	for _, request := range srv.Requests() {
		if request.Template == "/reporting/templates/{templatename}" {
			starts++
		}
	}
	require.Equal(t, 1, starts, "a run is started once")
}

func countRows(t *testing.T, text string) int {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	return len(rows)
}

// The report looks complete but has fewer rows than counted.
func TestCountDisagrees(t *testing.T) {
	srv := service(t, prepaidtest.Options{})
	srv.AddReport("balances", func(w io.Writer, _ bool) (int, error) {
		_, err := io.WriteString(w, balances)
		return 4, err
	})
	dir := t.TempDir()
	code, out, errOut := runWith(t, "-template", "balances", "-file", filepath.Join(dir, "rows"))
	require.Equal(t, 3, code)
	require.Contains(t, errOut, "3 rows, but totalrecords is 4")
	require.Contains(t, out, "incomplete: the first 2 rows, 3 with the header row, are in ")
	require.Equal(t, map[string]string{"rows.partial": balances}, content(t, dir))
}

func TestNothingToResume(t *testing.T) {
	srv := service(t, prepaidtest.Options{})
	srv.AddReportCSV("balances", balances)
	srv.AddReportCSV("lost", balances)
	srv.AddReport("failing", func(io.Writer, bool) (int, error) { return 0, errors.New("no data") })
	run, err := srv.Client().Reporting.Start(t.Context(), "balances", prepaid.StartReportParams{IncludeColumnHeaders: true})
	require.NoError(t, err)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no template":  {[]string{"-template", "other"}, "Reporting.Start: rejected"},
		"no run":       {[]string{"-template", "balances", "-resume", "other"}, "unknown or too old"},
		"expired":      {[]string{"-template", "balances", "-resume", run.ID}, "unknown or too old"},
		"lost start":   {[]string{"-template", "lost"}, "a run with an unknown ID may have been started; a new start waits for it: "},
		"failed":       {[]string{"-template", "failing"}, "must be started again"},
		"no directory": {[]string{"-template", "balances", "-file", filepath.Join("main.go", "rows")}, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			switch name {
			case "expired":
				srv.Advance(4 * time.Hour)
			case "lost start":
				srv.Inject("GET /reporting/templates/{templatename}", prepaidtest.CommitThenDrop())
			}
			code, _, errOut := runWith(t, append([]string{"-file", filepath.Join(dir, "rows")}, c.args...)...)
			require.Equal(t, 1, code)
			require.Contains(t, errOut, c.want)
			require.Empty(t, content(t, dir))
		})
	}
}

// Ctrl+C while the service works: the run is not lost.
func TestInterrupted(t *testing.T) {
	srv := service(t, prepaidtest.Options{ReportDelay: time.Hour})
	srv.AddReportCSV("balances", balances)
	ctx, interrupt := context.WithCancel(t.Context())
	out := &onRun{call: interrupt}
	var errOut bytes.Buffer
	dir := t.TempDir()
	code := run(ctx, []string{"-template", "balances", "-file", filepath.Join(dir, "rows")}, out, &errOut)
	require.Equal(t, 3, code, errOut.String())
	id := regexp.MustCompile(`^run (\S+), available until`).FindStringSubmatch(out.text.String())[1]
	require.Contains(t, errOut.String(), "not finished, continue with -resume "+id)
	require.Empty(t, content(t, dir))

	srv.Advance(time.Hour)
	code, _, stderr := runWith(t, "-template", "balances", "-file", filepath.Join(dir, "rows"), "-resume", id)
	require.Zero(t, code, stderr)
	require.Equal(t, map[string]string{"rows": balances}, content(t, dir))
}

// A wait that would outlast -timeout does not begin.
func TestTimeout(t *testing.T) {
	srv := prepaidtest.NewServer(t, prepaidtest.Options{ReportDelay: time.Hour})
	srv.AddReportCSV("balances", balances)
	var out bytes.Buffer
	d := &download{
		options:   options{template: "balances", format: "csv", file: filepath.Join(t.TempDir(), "rows"), timeout: time.Minute},
		reporting: srv.Client().Reporting, out: &out, progress: newProgress(&out), wait: time.Hour,
	}
	err := d.do(t.Context())
	require.ErrorIs(t, err, errResumable)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, prepaid.ErrReportNotReady)
}

func TestRowsThatAreNoObjects(t *testing.T) {
	for text, want := range map[string]string{
		"a,a\n1,2\n":    "a column has no name, or that of another",
		"a,\n1,2\n":     "a column has no name, or that of another",
		"a,b\n1,2\n3\n": "a row has 1 fields and the header 2",
		"a\n\xff\n":     "a field is not UTF-8",
	} {
		reader := csv.NewReader(strings.NewReader(text))
		reader.FieldsPerRecord = -1
		rows := func(yield func([]string, error) bool) {
			for {
				row, err := reader.Read()
				if errors.Is(err, io.EOF) || !yield(row, err) {
					return
				}
			}
		}
		_, err := writeRows(io.Discard, "jsonl", rows)
		require.ErrorIs(t, err, errRow)
		require.ErrorContains(t, err, want)
	}
}

func TestCommandLine(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		base string
		code int
		want string
	}{
		"help":             {args: []string{"-h"}, want: "PREPAID_CLIENT_SECRET_FILE"},
		"unknown flag":     {args: []string{"-nonsense"}, code: 2, want: "not defined"},
		"no flag":          {args: []string{"now"}, code: 2, want: "flags only"},
		"format":           {args: []string{"-format", "xml"}, code: 2, want: "csv or jsonl"},
		"timeout":          {args: []string{"-timeout", "0s"}, code: 2, want: "must be positive"},
		"emulator, resume": {args: []string{"-resume", "x"}, code: 2, want: "need PREPAID_BASE_URL"},
		"no template":      {base: "https://service.example.com/3.0/", code: 2, want: "-template is required"},
		"incomplete":       {args: []string{"-template", "x"}, base: "https://service.example.com/3.0/", code: 2, want: "PREPAID_VENDOR"},
		"template":         {args: []string{"-template", "..", "-file", "x"}, base: "set", code: 2, want: "template must"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if c.base == "set" {
				service(t, prepaidtest.Options{})
			} else {
				t.Setenv("PREPAID_BASE_URL", c.base)
			}
			code, out, errOut := runWith(t, c.args...)
			require.Equal(t, c.code, code, errOut)
			require.Contains(t, errOut, c.want)
			require.Empty(t, out)
			require.Empty(t, content(t, "."))
		})
	}
}

// If the file cannot get its name, no run starts.
func TestFileIsADirectory(t *testing.T) {
	srv := service(t, prepaidtest.Options{})
	srv.AddReportCSV("balances", balances)
	dir := t.TempDir()
	file := filepath.Join(dir, "rows")
	require.NoError(t, os.Mkdir(file, 0o700))
	code, _, errOut := runWith(t, "-template", "balances", "-file", file)
	require.Equal(t, 2, code)
	require.Equal(t, "report: see -h: -file is a directory\n", errOut)
	require.Empty(t, srv.Requests())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// The emulator of the demonstration does not outlive it.
func TestDemonstrationInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	out := &onRun{call: interrupt}
	var errOut bytes.Buffer
	require.Equal(t, 1, run(ctx, []string{"-file", filepath.Join(t.TempDir(), "rows")}, out, &errOut))
	require.NotContains(t, errOut.String(), "-resume")
	require.Contains(t, errOut.String(), "not finished, and the emulator with the run has ended: ")
}

// onRun runs call when a run's id is printed.
type onRun struct {
	text strings.Builder
	call func()
}

func (o *onRun) Write(text []byte) (int, error) {
	if bytes.HasPrefix(text, []byte("run ")) {
		o.call()
	}
	return o.text.Write(text)
}
