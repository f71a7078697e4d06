package journalfile

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// A process may die with any part of the file written: the next process finishes, and makes no payment twice.
func TestResumeAtEveryByte(t *testing.T) {
	t.Parallel()
	j, m := openMemory(t, nil)
	require.NoError(t, payThree(t, j, newBank()))
	whole := m.data
	require.NotContains(t, string(whole), "SECRET")
	require.NotContains(t, string(whole), "12345678")
	for cut := range len(whole) + 1 {
		again, m := openMemory(t, whole[:cut])
		require.Equal(t, bytes.LastIndexByte(whole[:cut], '\n')+1, cut-int(again.Torn()))
		known, b := done(again), newBank()
		require.NoError(t, payThree(t, again, b))
		require.Equal(t, 3-len(known), b.calls, "what is done is not sent, at byte %d", cut)
		for range again.Pending() {
			t.Fatal("pending")
		}
		last, _ := openMemory(t, m.data)
		require.Zero(t, last.Torn())
		require.Len(t, done(last), 3)
	}
}

// Any flipped bit is found, even in the last line feed: a whole record never counts as torn.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	j, m := openMemory(t, nil)
	_, err := j.Transfer(t.Context(), newBank(), "from", payment(1))
	require.NoError(t, err)
	for i := range m.data {
		for bit := range 8 {
			m.data[i] ^= 1 << bit
			_, _, err := scanned(m.data)
			m.data[i] ^= 1 << bit
			require.ErrorIs(t, err, ErrCorrupt, "byte %d", i)
		}
	}
}

func TestOpenRefusesWhatIsNoJournal(t *testing.T) {
	t.Parallel()
	j, m := openMemory(t, nil)
	require.NoError(t, payThree(t, j, newBank()))
	lines := bytes.SplitAfter(m.data, []byte("\n"))
	body := lines[1][prefix : len(lines[1])-1]
	changed := func(from, to string) string {
		require.Contains(t, string(body), from)
		return strings.Replace(string(body), from, to, 1)
	}
	reframed := func(body string) []byte { return append(append(frame([]byte(body)), body...), '\n') }
	for name, second := range map[string][]byte{
		"no record":       []byte("\n"),
		"short":           []byte("00000000 \n"),
		"wrong checksum":  append([]byte("00000000"), lines[1][8:]...),
		"wrong length":    append(append(bytes.Clone(lines[1][:9]), "00000001"...), lines[1][17:]...),
		"no JSON":         reframed("{"),
		"no request id":   reframed(`{}`),
		"unknown state":   reframed(string(bytes.Replace(body, []byte(`"intended"`), []byte(`"lost"`), 1))),
		"unknown member":  reframed(string(bytes.Replace(body, []byte(`{`), []byte(`{"more":1,`), 1))),
		"another spacing": reframed(string(bytes.Replace(body, []byte(`:`), []byte(`: `), 1))),
		"another order":   reframed(changed(`"runs":1}`, `"attempts":1,"runs":1}`)),
		"member twice":    reframed(changed(`"runs":1}`, `"runs":1,"runs":1}`)),
		"member too few":  reframed(changed(`,"runs":1}`, `}`)),
		"another number":  reframed(changed(`"runs":1}`, `"runs":01}`)),
		"quoted number":   reframed(changed(`"amount":1.00`, `"amount":"1.00"`)),
		"another amount":  reframed(changed(`"amount":1.00`, `"amount":1.000`)),
		"null":            reframed(changed(`"amount":1.00`, `"amount":null`)),
		"escape":          reframed(changed(`"from"`, `"fr\u006fm"`)),
		"no escape":       reframed(changed(`"from"`, `"<from>"`)),
		"another time":    reframed(changed(`Z","runs"`, `+00:00","runs"`)),
		"no time":         reframed(changed(`"began":"20`, `"began":"20x`)),
		"zero member":     reframed(changed(`"runs":1}`, `"runs":1,"attempts":0}`)),
		"zero time":       reframed(changed(`"runs":1}`, `"runs":1,"first_sent":"0001-01-01T00:00:00Z"}`)),
		"zero time there": reframed(changed(`"runs":1}`, `"runs":1,"first_sent":"0001-01-01T11:00:00+11:00"}`)),
		"empty member":    reframed(changed(`"runs":1}`, `"runs":1,"code":""}`)),
		"false member":    reframed(changed(`"runs":1}`, `"runs":1,"resolved":false}`)),
		"unused bits":     reframed(changed(`"runs":1}`, `"runs":1,"sealed":"AB=="}`)),
		"line break":      reframed(changed(`"runs":1}`, `"runs":1,"sealed":"AA==`+"\r"+`"}`)),
		"something after": reframed(changed(`"runs":1}`, `"runs":1} `)),
	} {
		data := slices.Concat(lines[0], second, lines[2])
		_, _, err := scanned(data)
		require.ErrorIs(t, err, ErrCorrupt, name)
		require.Equal(t, "journalfile: corrupt at line 2, byte 18", err.Error(), name)
	}
	_, _, err := scanned([]byte("prepaid-journal 2\n"))
	require.EqualError(t, err, "journalfile: corrupt at line 1, byte 0")
	_, _, err = scanned(slices.Concat(lines[0], bytes.TrimSuffix(lines[1], []byte("\n")), []byte("x")))
	require.ErrorIs(t, err, ErrCorrupt, "a whole record with another byte in place of its end")
}

// scanned returns the entries of a file.
func scanned(data []byte) (entries []journal.Entry, good int, err error) {
	n, size, err := scan(iotest.HalfReader(bytes.NewReader(data)), func(_ int64, _ []byte, e *journal.Entry) {
		entries = append(entries, *e)
	})
	if err == nil && size != int64(len(data)) {
		err = errors.New("not read to its end")
	}
	return entries, int(n), err
}

// A file that cannot be read to its end does not count as torn.
func TestReadFailsInTheMiddle(t *testing.T) {
	t.Parallel()
	j, m := openMemory(t, nil)
	require.NoError(t, payThree(t, j, newBank()))
	for cut := range len(m.data) {
		_, _, err := scan(io.MultiReader(bytes.NewReader(m.data[:cut]), iotest.ErrReader(errFull)), func(int64, []byte, *journal.Entry) {})
		require.ErrorIs(t, err, errFull)
	}
}

// A record may become unreadable after the file was opened. Then its payment is neither new nor another one, and nothing more is
// sent.
func TestRecordCannotBeReadAgain(t *testing.T) {
	t.Parallel()
	params := payment(1)
	for name, damage := range map[string]func(j *Journal, f *os.File) error{
		"another byte": func(j *Journal, f *os.File) error {
			_, err := f.WriteAt([]byte{0}, j.index[keyOf(params.RequestID)].at+100) // JSON never has it
			return err
		},
		"cut off": func(j *Journal, f *os.File) error { return f.Truncate(j.index[keyOf(params.RequestID)].at + 100) },
		"another payment": func(j *Journal, _ *os.File) error {
			one, other := keyOf(params.RequestID), keyOf(payment(0).RequestID)
			j.index[one], j.index[other] = j.index[other], j.index[one]
			return nil
		},
		"disk": func(j *Journal, _ *os.File) error { j.file = unreadable{j.file}; return nil },
	} {
		for use, read := range map[string]func(j *Journal, b *bank) error{
			"Transfer": func(j *Journal, b *bank) error {
				_, err := j.Transfer(t.Context(), b, "from", params)
				require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
				return err
			},
			"Get": func(j *Journal, _ *bank) error {
				e, known := j.Get(params.RequestID)
				require.True(t, known)
				require.Equal(t, journal.Entry{RequestID: params.RequestID, State: journal.StateUnknown}, e)
				return fmt.Errorf("%w: %w", journal.ErrNotRecorded, j.Err())
			},
			"Resolve": func(j *Journal, _ *bank) error { return j.Resolve(params.RequestID, journal.NotMoved()) },
			"Stats": func(j *Journal, _ *bank) error {
				_, err := j.Stats()
				return fmt.Errorf("%w: %w", journal.ErrNotRecorded, err)
			},
			"Resume": func(j *Journal, b *bank) (failed error) {
				for e, err := range j.Resume(t.Context(), b, 2) {
					require.Zero(t, e)
					require.NoError(t, failed, "once")
					failed = err
				}
				return failed
			},
			"Compact": func(j *Journal, _ *bank) error {
				err := j.Compact(time.Time{})
				require.ErrorIs(t, err, ErrNotCompacted)
				require.NoFileExists(t, j.path+temporary)
				return err
			},
		} {
			path, b := filepath.Join(t.TempDir(), "j"), newBank()
			j := open(t, path)
			b.err = errCut
			_, err := j.Transfer(t.Context(), b, "from", params)
			require.ErrorIs(t, err, errCut)
			_, err = j.Transfer(t.Context(), b, "from", payment(0))
			require.ErrorIs(t, err, errCut)
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			require.NoError(t, err)
			before := b.calls
			require.NoError(t, damage(j, f))
			require.NoError(t, f.Close())

			err = read(j, b)
			require.ErrorIs(t, err, journal.ErrNotRecorded, "%s, %s", name, use)
			if name == "disk" {
				require.ErrorIs(t, err, errFull, use)
			} else {
				require.ErrorIs(t, err, ErrCorrupt, "%s, %s", name, use)
			}
			for n := range 3 {
				_, err = j.Transfer(t.Context(), b, "from", payment(n))
				require.ErrorIs(t, err, journal.ErrNotRecorded, "%s, %s", name, use)
			}
			require.Equal(t, before, b.calls, "%s, %s", name, use)
		}
	}
}

// unreadable is a file on a disk that cannot be read any more.
type unreadable struct{ file }

func (unreadable) ReadAt([]byte, int64) (int, error) { return 0, errFull }

func FuzzOpen(f *testing.F) {
	// Short seeds: the fuzzer takes long to shorten its findings.
	whole := []byte(header)
	for _, state := range []journal.State{journal.StateIntended, journal.StateDone} {
		line, err := encode(journal.Entry{RequestID: "a", State: state})
		require.NoError(f, err)
		whole = append(whole, line...)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	f.Add(whole)
	f.Add(whole[:len(whole)-7])
	f.Add(slices.Concat(lines[0], lines[2], lines[1]))
	f.Add([]byte(header + "00000000 00000002 {}\n"))
	short := `{"request_id":"a","state":"done"}`
	f.Add([]byte(header + string(frame([]byte(short))) + short + "\n"))
	line, err := encode(everyMember())
	require.NoError(f, err)
	f.Add(append([]byte(header), line...))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, good, err := scanned(data)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		if good == 0 {
			require.Less(t, len(data), len(header))
			return
		}
		back := []byte(header)
		for _, line := range bytes.SplitAfter(data[len(header):good], []byte("\n")) {
			if len(line) == 0 {
				continue
			}
			sum := fmt.Sprintf("%08x", crc32.Checksum(line[18:len(line)-1], crc32.MakeTable(crc32.Castagnoli)))
			require.Equal(t, sum, string(line[:8]))
		}
		for _, e := range entries {
			line, err := encode(e)
			require.NoError(t, err)
			back = append(back, line...)
		}
		require.True(t, bytes.Equal(data[:good], back))
		again, m := openMemory(t, data)
		require.True(t, bytes.HasPrefix(m.data, data[:good]))
		require.Equal(t, int64(len(data)-good), again.Torn())
	})
}
