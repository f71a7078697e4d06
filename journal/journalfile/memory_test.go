package journalfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

var errFull = errors.New("disk full")

// memory is a file in memory whose disk may be full.
type memory struct {
	mu     sync.Mutex // of data
	data   []byte
	at     int
	writes int // made so far
	syncs  atomic.Int32
	full   int // number of the write that fails; 0 for none
	part   int // how much of it is written
	fsync  bool
	// evidence is the content of the file next to it.
	evidence []byte
	// syncing is called during each sync; may be nil
	syncing func()
}

func (m *memory) Read(p []byte) (int, error) {
	if m.at >= len(m.data) {
		return 0, io.EOF
	}
	n := copy(p, m.data[m.at:])
	m.at += n
	return n, nil
}

func (m *memory) ReadAt(p []byte, at int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.NewReader(m.data).ReadAt(p, at)
}

func (m *memory) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

func (m *memory) Seek(offset int64, _ int) (int64, error) { m.at = int(offset); return offset, nil }

func (m *memory) Truncate(size int64) error { m.data = m.data[:size]; return nil }

func (m *memory) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	if m.full > 0 && m.writes >= m.full {
		part := min(m.part, len(p))
		if m.writes > m.full || m.fsync {
			part = len(p) // the sync fails instead of the write, or the journal should not have continued
		}
		m.data = append(m.data[:m.at], p[:part]...)
		m.at = len(m.data)
		if m.fsync {
			return part, nil
		}
		return part, errFull
	}
	m.data = append(m.data[:m.at], p...)
	m.at = len(m.data)
	return len(p), nil
}

func (m *memory) Sync() error {
	m.syncs.Add(1)
	if m.syncing != nil {
		m.syncing()
	}
	if m.fsync && m.full > 0 && m.writes >= m.full {
		return errFull
	}
	return nil
}

func (m *memory) Close() error { return nil }

// openMemory opens a copy of data.
func openMemory(t testing.TB, data []byte) (*Journal, *memory) {
	t.Helper()
	return openMemoryWith(t, data, Options{})
}

func openMemoryWith(t testing.TB, data []byte, options Options) (*Journal, *memory) {
	t.Helper()
	m := &memory{data: append([]byte(nil), data...)}
	j, err := load(m, options)
	require.NoError(t, err)
	j.disk = nameless{memory: m}
	return j, m
}

// nameless is the directory of a memory, which has no path.
type nameless struct {
	osDirectory

	memory *memory
}

func (nameless) names(file, []string) error { return nil }

func (d nameless) read(string) ([]byte, error) {
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	return d.memory.evidence, nil
}

func (d nameless) write(_ string, content []byte, _ fs.FileMode) error {
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	d.memory.evidence = content
	return nil
}

// payThree makes three payments like a program, the last to a bank.
func payThree(t *testing.T, j *Journal, b *bank) (failed error) {
	t.Helper()
	for n := range 3 {
		var err error
		if n < 2 {
			_, err = j.Transfer(t.Context(), b, "from", payment(n))
		} else {
			_, err = j.DirectEntryOut(t.Context(), b, "from", prepaid.DirectEntryOutParams{
				RequestID: payment(n).RequestID, Amount: prepaid.Cents(int64(100 + n)), SourceReference: "PAY", DestinationReference: "PAY", BSB: "062000",
				Destination: prepaid.BankAccount{BSB: "062000", AccountNumber: "12345678", AccountName: "J CITIZEN"},
			})
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

func done(j *Journal) (ids []prepaid.RequestID) {
	for e := range j.All() {
		if e.State == journal.StateDone {
			ids = append(ids, e.RequestID)
		}
	}
	return ids
}
