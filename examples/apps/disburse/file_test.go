package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBadFilesAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	inBubble(t, 1, func(t *testing.T, s *stage) {
		good := row("emp-0", s.accounts[0], "100.00")
		for _, c := range []struct {
			name string
			file string
			want []string
		}{
			{"nothing", "", []string{"line 1: must be " + columns}},
			{"other columns", "key,amount\nemp-1,5\n", []string{"line 1: must be " + columns}},
			{"semicolons", strings.ReplaceAll(columns, ",", ";") + "\n", []string{"line 1: must be"}},
			{"no rows", columns + "\n", []string{"the file has no payment"}},
			{"all faults of a row", columns + "\n" + good + "\n=1+1,a b,-5,\n", []string{
				"line 3: key " + nameRule + "; account_id " + nameRule + "; amount must be above zero; reference is required",
			}},
			{"key again", columns + "\n" + good + "\n\n" + good + "\n", []string{"line 4: key is that of line 2"}},
			{"key again in a faulty row", columns + "\n" + good + "\nemp-0,EA1,1e3,SALARY\n", []string{"line 3: amount must be a plain number such as 1250.00; key is that of line 2"}},
			{"space in a key", columns + "\n" + strings.Replace(good, "emp-0", "emp-0 ", 1) + "\n", []string{"line 2: key must be"}},
			{"long key", columns + "\n" + strings.Repeat("k", 62) + ",EA1,1,SALARY\n", []string{"line 2: source_reference must be at most 75 characters"}},
			{"amounts", columns + "\nk-1,EA1,0.00,S\nk-2,EA1,1.005,S\nk-3,EA1,\"1,000\",S\nk-5,EA1,99999999999999999999,S\n", []string{
				"line 2: amount must be above zero", "line 3: amount must have at most two decimals", "line 4: amount must be a plain number",
				"line 5: amount must be a plain number",
			}},
			{"to the float account", columns + "\n" + row("emp-1", s.float, "5"), []string{"line 2: account_id is the float account"}},
			{"references", columns + "\nk-1,EA1,5," + strings.Repeat("é", 76) + "\nk-2,EA1,5,\xff\nk-3,EA1,5,\"a\tb\"\n", []string{
				"line 2: reference must be at most 75 characters", "line 3: reference must be valid UTF-8", "line 4: reference must have no control characters",
			}},
			{"fields", columns + "\nemp-1,EA1,5\nemp-2,EA1,5,SALARY,more\n" + good + "\n", []string{
				"line 2: wrong number of fields", "line 3: wrong number of fields",
			}},
			{"quote", columns + "\nemp-1,EA1,5,SAL\"ARY\nemp-2,EA1,,SALARY\n", []string{`line 2: bare "`, "line 3: amount must be"}},
			{"open quote", columns + "\n" + good + "\nemp-1,EA1,5,\"SALARY\nemp-2,EA1,5,SALARY\n", []string{`line 3: extraneous or missing "`}},
		} {
			require.NoError(t, os.WriteFile(s.file, []byte(c.file), 0o600))
			_, errOut := s.exits(exitWrong)
			lines := strings.Split(strings.TrimSpace(errOut), "\n")
			require.Len(t, lines, len(c.want)+1, c.name+errOut)
			for i, want := range c.want {
				require.Contains(t, lines[i], want, c.name)
			}
			require.Equal(t, fmt.Sprintf("disburse: nothing was sent: faults in the payments file: %d", len(c.want)), lines[len(c.want)], c.name)
			for _, value := range []string{"1+1", "a b", "1.005", "1,000", "99999", "SAL"} {
				require.NotContains(t, errOut, value, c.name)
			}
		}
		require.Empty(t, s.srv.Requests())
		require.NoFileExists(t, s.journal())
		require.NoFileExists(t, s.file+".summary.csv")
	})
}

func TestWhatAFileMayHave(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, func(t *testing.T, s *stage) {
		text := "\xef\xbb\xbf" + columns + "\r\n" + strings.Join(s.rows(), "\r\n") // from a spreadsheet, without a final newline
		text = strings.Replace(text, "SALARY", `"Löhne, ""November"""`, 1)
		require.NoError(t, os.WriteFile(s.file, []byte(text), 0o600))
		s.exits(exitPaid, "-rows", "3", "-sum", "300.03")
		s.requirePaidOnce()
		s.srv.AllowOnly("GET /accounts/{id}/transactions") // no payment
		s.exits(exitPaid)
		history := s.srv.Transactions(s.accounts[0])
		require.Equal(t, `Löhne, "November"`, history[len(history)-1].Reference)
	})
}

func TestControlTotals(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, func(t *testing.T, s *stage) {
		_, errOut := s.exits(exitWrong, "-rows", "4", "-sum", "300.04")
		require.Contains(t, errOut, "the file has 3 payments, -rows says 4\nthe sum of the file is 300.03, -sum says 300.04\n")
		require.Empty(t, s.srv.Requests())
	})
}

// The file is overwritten during the run: the checked content is sent.
func TestFileChangedWhileInUse(t *testing.T) {
	t.Parallel()
	inBubble(t, 200, func(t *testing.T, s *stage) {
		first := true
		s.onPaid = func() {
			if first {
				first = false
				s.write(strings.ReplaceAll(strings.Join(s.rows(), "\n"), ",1", ",9"))
			}
		}
		s.exits(exitPaid)
		s.requirePaidOnce()
		s.onPaid = nil
		_, errOut := s.exits(exitWrong)
		require.Contains(t, errOut, "line 2: journal: ")
	})
}
