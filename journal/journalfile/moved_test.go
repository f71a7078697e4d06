package journalfile

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// moves are the ways in which a name ceases to be the file's. The file is dir/j, and dir/link points to it.
func moves() map[string]func(dir string) error {
	return map[string]func(dir string) error{
		"renamed": func(dir string) error { return os.Rename(filepath.Join(dir, "j"), filepath.Join(dir, "old")) },
		"removed": func(dir string) error { return os.Remove(filepath.Join(dir, "j")) },
		"replaced": func(dir string) error {
			return os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "j"))
		},
		"directory renamed": func(dir string) error {
			if err := os.Rename(dir, dir+"-old"); err != nil {
				return err
			}
			return os.Mkdir(dir, 0o700)
		},
	}
}

// newDirectory returns a directory that moves can change.
func newDirectory(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("an open file can be neither renamed nor removed")
	}
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), nil, 0o600))
	require.NoError(t, os.Symlink("j", filepath.Join(dir, "link")))
	return dir
}

// Two processes have the same path, but the file of the first has another name by now: only the second sends.
func TestMovedWhileOpen(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"j", "link"} {
		for how, move := range moves() {
			dir, b := newDirectory(t), newBank()
			path := filepath.Join(dir, name)
			first := open(t, path)
			_, err := first.Transfer(t.Context(), b, "from", payment(1))
			require.NoError(t, err)
			require.NoError(t, move(dir), how)
			if name == "link" {
				_ = os.Symlink("j", path) // the new directory has none
			}
			second, err := Open(path, Options{})
			require.NoError(t, err, how)
			_, err = second.Transfer(t.Context(), b, "from", payment(2))
			require.NoError(t, err, how)
			require.Equal(t, 2, b.calls)

			_, err = first.Transfer(t.Context(), b, "from", payment(2))
			require.Equal(t, 2, b.calls, "sent by both: %s", how)
			require.ErrorIs(t, err, ErrMoved, how)
			require.ErrorIs(t, err, journal.ErrNotRecorded, how)
			require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(err))
			require.ErrorIs(t, first.Err(), ErrMoved, "it stays")
			require.NoError(t, second.Close())
		}
	}
}

// A link that now points to another file is also a moved name.
func TestLinkChangedWhileOpen(t *testing.T) {
	t.Parallel()
	dir, b := newDirectory(t), newBank()
	link := filepath.Join(dir, "link")
	j := open(t, link)
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink("other", link))
	_, err := j.Transfer(t.Context(), b, "from", payment(1))
	require.ErrorIs(t, err, ErrMoved)
	require.Zero(t, b.calls)
}

// A compaction of a file that was moved would replace the file of another process.
func TestMovedFileIsNotCompacted(t *testing.T) {
	t.Parallel()
	for how, move := range moves() {
		for _, during := range []bool{false, true} {
			dir, b := newDirectory(t), newBank()
			path := filepath.Join(dir, "j")
			j := open(t, path)
			require.NoError(t, payThree(t, j, b))
			var second *Journal
			moved := func() {
				require.NoError(t, move(dir), how)
				second = open(t, path)
				_, err := second.Transfer(t.Context(), b, "from", payment(9))
				require.NoError(t, err)
			}
			if during {
				j.disk = moving{move: moved}
			} else {
				moved()
			}
			err := j.Compact(time.Time{})
			require.ErrorIs(t, err, ErrMoved, how)
			require.ErrorIs(t, err, journal.ErrNotRecorded, how)
			require.NoFileExists(t, path+temporary)
			require.NoError(t, second.Close())
			require.Len(t, done(open(t, path)), 1, "the file of the second journal is its own")
		}
	}
}

// moving moves the file when a compaction has written the new one.
type moving struct {
	osDirectory
	move func()
}

func (m moving) create(path string, mode os.FileMode) (file, error) {
	f, err := m.osDirectory.create(path, mode)
	return &movingFile{file: f, move: m.move}, err
}

// movingFile calls move when it is synced.
type movingFile struct {
	file
	move func()
}

func (f *movingFile) Sync() error {
	f.move()
	return f.file.Sync()
}

// The file may be moved while an intent is written, and while the payment is sent.
func TestMovedWhilePaying(t *testing.T) {
	t.Parallel()
	for how, move := range moves() {
		dir, b := newDirectory(t), newBank()
		j := open(t, filepath.Join(dir, "j"))
		locked := j.file
		j.file = &movingFile{file: locked, move: func() { require.NoError(t, move(dir), how) }}
		_, err := j.Transfer(t.Context(), b, "from", payment(1))
		require.ErrorIs(t, err, ErrMoved, how)
		require.Zero(t, b.calls, how)
		j.file = locked // for Close

		dir = newDirectory(t)
		j = open(t, filepath.Join(dir, "j"))
		result, err := j.Transfer(t.Context(), &movingBank{b, func() { require.NoError(t, move(dir), how) }}, "from", payment(1))
		require.ErrorIs(t, err, ErrMoved, how)
		require.Equal(t, prepaid.OutcomeApplied, prepaid.OutcomeOf(err))
		require.NotEmpty(t, result.TransactionID)
		require.Equal(t, 1, b.calls, how)
	}
}

// movingBank calls move before it pays.
type movingBank struct {
	*bank
	move func()
}

func (b *movingBank) Transfer(ctx context.Context, from prepaid.AccountID, p prepaid.TransferParams) (*prepaid.TransferResult, error) {
	b.move()
	return b.bank.Transfer(ctx, from, p)
}
