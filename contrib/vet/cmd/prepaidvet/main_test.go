package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program that uses the SDK, in its own module.
var program = map[string]string{
	"payments/payments.go": `// Package payments wraps the SDK.
package payments

import (
	"context"

	"github.com/cardprograms/prepaid"
)

// Pay pays.
func Pay[S interface {
	Transfer(context.Context, prepaid.AccountID, prepaid.TransferParams) (*prepaid.TransferResult, error)
}](ctx context.Context, s S, params prepaid.TransferParams) error {
	_, err := s.Transfer(ctx, "a", params)
	return err
}
`,
	"main.go": `package main

import (
	"context"

	"github.com/cardprograms/prepaid"

	"program/payments"
)

func main() {
	client, err := prepaid.NewClient(prepaid.Config{})
	if err != nil {
		panic(err)
	}
	_ = payments.Pay(context.Background(), client.Accounts, prepaid.TransferParams{})
	//prepaidvet:ignore outcome the first call is a drill
	_ = payments.Pay(context.Background(), client.Accounts, prepaid.TransferParams{})
}
`,
	"main_test.go": `package main

import (
	"context"
	"testing"

	"github.com/cardprograms/prepaid"
)

func TestPay(t *testing.T) {
	var client prepaid.Client
	_, _ = client.Accounts.Transfer(context.Background(), "a", prepaid.TransferParams{})
}
`,
	"tagged.go": `//go:build fast

package main

import (
	"context"

	"github.com/cardprograms/prepaid"
)

func refund(ctx context.Context, client *prepaid.Client, params prepaid.RefundFundingParams) error {
	_, err := client.Funding.Refund(ctx, params)
	return err
}
`,
	"native/native.go": `// Package native calls C.
package native

// static int one(void) { return 1; }
import "C"

import (
	"context"

	"github.com/cardprograms/prepaid"
)

// Drop drops an error.
func Drop(ctx context.Context, client *prepaid.Client) int {
	client.Accounts.Transfer(ctx, "a", prepaid.TransferParams{})
	//prepaidvet:ignore outcome the next one is for the count
	client.Accounts.Transfer(ctx, "a", prepaid.TransferParams{})
	return int(C.one())
}
`,
	"good/good.go": `// Package good has no mistakes.
package good

import (
	"context"

	"github.com/cardprograms/prepaid"
)

// Pay returns the error.
func Pay(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error {
	_, err := client.Accounts.Transfer(ctx, "a", params)
	return err
}
`,
}

func TestProgram(t *testing.T) {
	t.Parallel()
	tool, module := build(t), write(t)

	printed, status := run(t, module, "go", "vet", "-vettool="+tool, "-outcome", "./...")
	require.Equal(t, 1, status)
	require.Contains(t, printed, "main.go:16:6: the error of Pay is dropped: the money may have moved, and nothing records it; ")
	require.Contains(t, printed, "native.go:15:2: the error of Accounts.Transfer is dropped: ")
	require.Equal(t, 2, strings.Count(printed, "README.md#outcome\n"), printed)

	printed, status = run(t, module, "go", "vet", "-vettool="+tool, "-tags", "fast", "-funding", ".")
	require.Equal(t, 1, status)
	require.Contains(t, printed, "tagged.go:12:12: the result of Funding.Refund is dropped: ")

	printed, status = run(t, module, "go", "vet", "-vettool="+tool, "./good")
	require.Zero(t, status, printed)
	require.Empty(t, printed)

	printed, status = run(t, ".", tool, "help")
	require.Zero(t, status)
	require.Regexp(t, `(?m)^ +outcome +report errors of money calls`, printed)
}

func build(t *testing.T) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "prepaidvet.exe")
	printed, status := run(t, ".", "go", "build", "-buildvcs=false", "-o", tool, ".")
	require.Zero(t, status, printed)
	return tool
}

// root is the directory of the SDK.
func root(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	require.NoError(t, err)
	return root
}

func write(t *testing.T) string {
	t.Helper()
	module, root := t.TempDir(), root(t)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	files := map[string]string{
		"go.sum": string(sums),
		"go.mod": "module program\n\ngo 1.26.0\n\nrequire github.com/cardprograms/prepaid v0.0.0\n\nreplace github.com/cardprograms/prepaid => " + root + "\n",
	}
	for _, all := range []map[string]string{files, program} {
		for name, text := range all {
			file := filepath.Join(module, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
	}
	return module
}

// run returns the output of a command, and its exit status.
func run(t *testing.T, directory, name string, args ...string) (string, int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = directory
	command.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	if directory != "." {
		command.Env = append(command.Env, "GOFLAGS=-mod=mod")
	}
	printed, err := command.CombinedOutput()
	if command.ProcessState == nil {
		require.NoError(t, err)
	}
	return string(printed), command.ProcessState.ExitCode()
}
