package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func TestRun(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, run(&out))
	require.Regexp(t, `^transaction [0-9]+\nbalance 25\.50\n$`, out.String())
}

// The transfer is printed even if the next call is refused.
func TestBalanceRefused(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	srv.Inject("GET /accounts/{id}", prepaidtest.Respond(403, "").Always())
	var out bytes.Buffer
	require.ErrorIs(t, pay(t.Context(), srv.Client(), from, to, &out), prepaid.ErrForbidden)
	require.Regexp(t, `^transaction [0-9]+\n$`, out.String())
	require.Equal(t, "25.50", srv.Balance(to))
}

func TestTransferRefused(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.Respond(403, "").Always())
	var out bytes.Buffer
	err := pay(t.Context(), srv.Client(), from, from, &out)
	require.ErrorIs(t, err, prepaid.ErrForbidden)
	require.ErrorContains(t, err, "rejected")
	require.Empty(t, out.String())
}

var errFull = errors.New("no space left")

// full accepts left writes and no more.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestOutputFull(t *testing.T) {
	t.Parallel()
	for room := range 2 {
		require.ErrorIs(t, run(&full{left: room}), errFull)
	}
}
