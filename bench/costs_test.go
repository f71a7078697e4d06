package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// serverVariable makes this test program a server, until its standard input ends.
const serverVariable = "PREPAID_BENCH_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) == "" {
		m.Run()
		return
	}
	mux := http.NewServeMux()
	for pattern, body := range map[string]string{
		"POST /3.0/token": tokenBody, "GET /3.0/accounts/{id}": accountBody(7), "POST /3.0/accounts/{id}/transfer": transferResult,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", mediaType)
			_, _ = io.WriteString(w, body)
		})
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	fmt.Println(server.URL + "/3.0/")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// cost is that of a call.
type cost struct{ bytes, allocations float64 }

// costOf counts while nothing else runs.
func costOf(t *testing.T, open opener) cost {
	t.Helper()
	const calls = 500
	call, done := openWarm(t, open)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range calls {
		require.NoError(t, call())
	}
	runtime.ReadMemStats(&after)
	require.NoError(t, done())
	return cost{float64(after.TotalAlloc-before.TotalAlloc) / calls, float64(after.Mallocs-before.Mallocs) / calls}
}

// A call needs less memory than the same call without the client.
func TestMemoryOfACall(t *testing.T) {
	for _, c := range []struct {
		name               string
		bytes, allocations float64 // a part of the baseline's; a number
		compare            func(runner)
	}{
		{"account", 0.56, 22, func(run runner) { compareAccount(run, base, newMemory(accountBody(7), 0)) }},
		{"accounts page", 0.30, 0, compareAccountPage},
		{"transactions page", 0.22, 0, compareTransactionPage},
		{"transfer", 0.78, 23, func(run runner) { compareTransfer(run, base, newMemory(transferResult, 0)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			costs := map[string]cost{}
			c.compare(func(side string, open opener) { costs[side] = costOf(t, open) })
			t.Log(costs)
			require.LessOrEqual(t, costs["ours"].bytes, c.bytes*costs["baseline"].bytes)
			if c.allocations > 0 {
				require.Less(t, costs["ours"].allocations, c.allocations)
			}
		})
	}
}

// The client adds less than 1.95 MB to a small program, stripped.
func TestSizeOfAProgram(t *testing.T) {
	directory := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", directory+"/", "./small/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	sizeOf := func(name string) int64 {
		info, err := os.Stat(filepath.Join(directory, name))
		require.NoError(t, err)
		return info.Size()
	}
	plain, client := sizeOf("plain"), sizeOf("client")
	t.Logf("%d and %d bytes", plain, client)
	require.Less(t, client-plain, int64(1.95e6))
}

// A valid token costs no allocation.
func TestMemoryOfAToken(t *testing.T) {
	client := newClient(t, base, newMemory(tokenBody, 0))
	defer func() { require.NoError(t, client.Close()) }()
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		if _, err := client.Token(context.Background()); err != nil {
			t.Fatal(err)
		}
	}))
}
