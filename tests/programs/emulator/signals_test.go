//go:build unix

package emulator

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/tests/built"
)

// The program starts, responds, stops on each signal and returns 0.
func TestSignalsEndTheProgram(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := Start(t, "-log", "off")
		require.Equal(t, 200, p.Call("GET", "accounts/"+ada, "").Status)
		require.Contains(t, p.Get("/").Body, "<h1>Overview</h1>")
		require.Contains(t, p.Stop(signal), "stopping")
	}
}

// Token, balances and responses of transfers survive a stop. After a kill they are as they were a second
// before.
func TestStateSurvivesStopAndKill(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "emulator.state")
	arguments := []string{"-log", "off", "-state", file}
	const transfer = `{"request_id":"r-1","amount":1.25,"source_reference":"s","destination_reference":"d",
		"destination_account_id":"EA10000000000002","transaction_type":1}`
	p := Start(t, arguments...)
	before := p.Call("POST", "accounts/"+ada+"/transfer", transfer)
	require.Equal(t, 200, before.Status, before.Body)
	balance := p.Call("GET", "accounts/"+ada+"/status", "").Body
	token := p.Token
	stop := func() { p.Stop(syscall.SIGTERM) }
	for _, end := range []func(){stop, func() { p.Kill() }, stop} {
		end()
		p = Start(t, arguments...)
		p.Token = token
		require.Equal(t, before.Body, p.Call("POST", "accounts/"+ada+"/transfer", transfer).Body)
		require.Equal(t, balance, p.Call("GET", "accounts/"+ada+"/status", "").Body)
	}
	code, _, said := built.Run(t, built.Command(t, nil, "prepaid-emulator", "-listen", "127.0.0.1:0", "-state", file))
	require.Equal(t, 1, code, "two programs on one file")
	require.Contains(t, said, "another")
	stop()
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
