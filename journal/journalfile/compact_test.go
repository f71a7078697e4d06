package journalfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

func TestCompact(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "j")
	path := filepath.Join(t.TempDir(), "link")
	j, b := open(t, target), newBank()
	require.NoError(t, j.Close())
	require.NoError(t, os.Chmod(target, 0o640))
	require.NoError(t, os.Symlink(target, path))
	j = open(t, path)
	require.NoError(t, payThree(t, j, b))
	at := time.Now()
	var entries []journal.Entry
	for _, state := range []journal.State{journal.StateUnknown, journal.StateIntended, journal.StateRejected, journal.StateNotSent} {
		entries = append(entries, journal.Entry{RequestID: prepaid.RequestID(state), State: state, Changed: at.Add(-time.Hour)})
	}
	require.NoError(t, j.record(entries...))
	all := slices.Collect(j.All())
	size := func() int64 {
		info, err := os.Stat(target)
		require.NoError(t, err)
		if runtime.GOOS != "windows" { // it has no such bits
			require.Equal(t, fs.FileMode(0o640), info.Mode().Perm())
		}
		return info.Size()
	}
	before := size()
	require.NoError(t, j.Compact(time.Time{}))
	require.Less(t, size(), before)
	require.Equal(t, all, slices.Collect(j.All()), "only earlier records are gone, and the order is that of the file")
	require.NoError(t, j.Compact(at.Add(-time.Minute)))
	_, known := j.Get("rejected")
	require.False(t, known)
	require.Len(t, slices.Collect(j.All()), 6)
	require.NoError(t, j.Compact(time.Now().Add(time.Hour)))
	var left []prepaid.RequestID
	for e := range j.All() {
		left = append(left, e.RequestID)
	}
	require.Equal(t, []prepaid.RequestID{"unknown", "intended", "not_sent"}, left, "what is pending is never dropped")

	_, err := j.Transfer(t.Context(), b, "from", payment(9))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.ErrorIs(t, j.Compact(at), ErrClosed)
	j = open(t, path)
	require.Len(t, slices.Collect(j.All()), 4, "and the new file goes on")
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeSymlink)
}

func TestCompactWhilePaying(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	j, b := open(t, path), newBank()
	var wg sync.WaitGroup
	for n := range 40 {
		wg.Go(func() {
			_, err := j.Transfer(t.Context(), b, "from", payment(n))
			require.NoError(t, err)
		})
	}
	wg.Go(func() { // records are found in any place
		for j.Err() == nil && len(done(j)) < 40 {
			for e := range j.All() {
				_, known := j.Get(e.RequestID)
				require.True(t, known)
			}
		}
	})
	for range 5 {
		require.NoError(t, j.Compact(time.Time{}))
	}
	wg.Wait()
	require.NoError(t, j.Err())
	require.NoError(t, j.Close())
	require.Len(t, done(open(t, path)), 40)
}

// failing stops a compaction at a step, like a full disk or a death.
type failing struct {
	osDirectory
	step string
}

func (f failing) create(path string, mode fs.FileMode) (file, error) {
	if f.step == "create" {
		return nil, errFull
	}
	fresh, err := f.osDirectory.create(path, mode)
	if err != nil {
		return nil, err
	}
	if f.step == "write" || f.step == "fsync" {
		return &failingFile{file: fresh, step: f.step}, nil
	}
	return fresh, nil
}

func (f failing) replace(old, fresh file, temporary, path string) (file, bool, error) {
	if f.step == "replace" {
		return old, false, errFull
	}
	return f.osDirectory.replace(old, fresh, temporary, path)
}

func (f failing) remove(path string) error {
	if f.step != "" {
		return nil // it died
	}
	return f.osDirectory.remove(path)
}

func (f failing) sync(path string) error {
	if f.step == "sync" {
		return errFull
	}
	return f.osDirectory.sync(path)
}

type failingFile struct {
	file
	step string
}

func (f *failingFile) Write(p []byte) (int, error) {
	if f.step == "write" {
		n, _ := f.file.Write(p[:len(p)/2])
		return n, errFull
	}
	return f.file.Write(p)
}

func (f *failingFile) Sync() error { return errFull }

// If any step of a compaction fails, or the process dies there and leaves its new file, the journal is complete. It
// continues unless it cannot know in which file.
func TestCompactFailsAtEachStep(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"create", "write", "fsync", "replace", "sync"} {
		path := filepath.Join(t.TempDir(), "j")
		j, b := open(t, path), newBank()
		require.NoError(t, payThree(t, j, b))
		j.disk = failing{step: step}
		err := j.Compact(time.Time{})
		require.ErrorIs(t, err, errFull, step)
		_, next := j.Transfer(t.Context(), b, "from", payment(3))
		want := 4
		if step == "sync" {
			require.ErrorIs(t, err, journal.ErrNotRecorded)
			require.ErrorIs(t, next, journal.ErrNotRecorded)
			want = 3
		} else {
			require.ErrorIs(t, err, ErrNotCompacted, step)
			require.NoError(t, next, step)
		}
		if step == "write" || step == "fsync" || step == "replace" {
			require.FileExists(t, path+temporary, step)
		}
		require.NoError(t, j.Close(), step)
		j = open(t, path)
		require.Len(t, done(j), want, step)
		require.NoFileExists(t, path+temporary, step)
		require.NoError(t, j.Compact(time.Time{}), step)
		require.Len(t, done(j), want, step)
	}
}
