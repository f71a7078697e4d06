package main

import (
	"bytes"
	"io"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/webhook"
)

func message(t *testing.T, id, kind, rest string) *prepaid.Message {
	t.Helper()
	m := &prepaid.Message{}
	require.NoError(t, m.UnmarshalJSON([]byte(`{"hook_id":"hook-1","id":"`+id+`","timestamp":"2026-11-21T10:00:00Z","type":"`+kind+`"`+rest+`}`)))
	return m
}

const twelve = `,"transaction":{"amount":12.50}`

// A message is in the file before its acknowledgement, and known after a restart. A line cut off by a crash is sent again.
func TestBooksOutliveTheProcess(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "books.jsonl")
	one, other := message(t, "m-1", "transaction", twelve), message(t, "m-2", "card_change", `,"card":7`)
	var out bytes.Buffer
	for range 2 {
		b, err := openBooks(file, log.New(&out, "", 0))
		require.NoError(t, err)
		require.NoError(t, webhook.Decoded(b.book)(t.Context(), one))
		require.NoError(t, b.note(t.Context(), other))
		require.NoError(t, b.note(t.Context(), message(t, "", "ping", "")))
		require.NoError(t, b.file.Close())
	}
	require.Equal(t, "booked: transaction 12.50\nbooked: card_change\nalready in the books: transaction 12.50\nalready in the books: card_change\n", out.String())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 2, bytes.Count(text, []byte("\n")), string(text))
	require.Contains(t, string(text), `"card":7`, "another type is kept as it came")
	info, err := os.Stat(file)
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // it has no such bits
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}

	first := text[:bytes.IndexByte(text, '\n')+1]
	require.NoError(t, os.WriteFile(file, text[:len(first)+20], 0o600))
	b, err := openBooks(file, log.New(io.Discard, "", 0))
	require.NoError(t, err)
	require.NoError(t, b.note(t.Context(), other))
	require.NoError(t, b.file.Close())
	repaired, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(text), string(repaired))
}

// A message that is not on the disk is never acknowledged.
func TestBooksThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b, err := openBooks(filepath.Join(t.TempDir(), "books.jsonl"), log.New(&out, "", 0))
	require.NoError(t, err)
	require.NoError(t, b.file.Close())
	for range 2 {
		require.ErrorContains(t, webhook.Decoded(b.book)(t.Context(), message(t, "m-1", "transaction", twelve)), "cannot be written")
		require.ErrorContains(t, b.note(t.Context(), message(t, "m-2", "other", "")), "cannot be written")
	}
	require.Empty(t, out.String())
	require.Empty(t, b.kept)
}

// A message of another shape is refused and stays stored. 0.00 is an amount.
func TestAmountIsRequired(t *testing.T) {
	t.Parallel()
	b, err := openBooks(filepath.Join(t.TempDir(), "books.jsonl"), log.New(io.Discard, "", 0))
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.file.Close() })
	for _, rest := range []string{"", `,"transaction":{}`, `,"transaction":null`, `,"transaction":{"amount":null}`, `,"transaction":{"value":1}`} {
		require.ErrorContains(t, webhook.Decoded(b.book)(t.Context(), message(t, "m-1", "transaction", rest)), "transaction.amount", rest)
	}
	require.Empty(t, b.kept)
	require.NoError(t, webhook.Decoded(b.book)(t.Context(), message(t, "m-1", "transaction", `,"transaction":{"amount":0}`)))
	require.Len(t, b.kept, 1)
}
