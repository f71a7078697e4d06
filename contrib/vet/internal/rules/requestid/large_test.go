package requestid_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"

	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/requestid"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

const step = `
func (b *batch) step%[1]d(ctx context.Context, card prepaid.AccountID) (string, error) {
	line := note{name: "step", number: %[1]d}
	params := prepaid.TransferParams{RequestID: prepaid.DeriveRequestID(b.day, string(card), "%[1]d"), DestinationAccountID: card}
	result, err := b.client.Accounts.Transfer(ctx, b.float, params)
	if errors.Is(err, context.Canceled) {
		return "", err
	}
	if err != nil {
		b.failures++
		b.notes = append(b.notes, line)
		return "", fmt.Errorf("step %[1]d: %%w", err)
	}
	if result.TransactionID == "" {
		line.name = "nothing"
	}
	b.notes = append(b.notes, line)
	return line.name, nil
}
`

const called = `
	name%[1]d, err := b.step%[1]d(ctx, card)
	if err != nil {
		fmt.Println(name%[1]d, err)
	}
`

// A walk forgets what does not matter any more, so that it comes to the end of a function with two to the power of 40 paths.
func TestLargeFunctionIsJudged(t *testing.T) {
	t.Parallel()
	const steps = 40
	var source strings.Builder
	source.WriteString(`package large

import (
	"context"
	"errors"
	"fmt"

	"github.com/cardprograms/prepaid"
)

type note struct {
	name   string
	number int
}

type batch struct {
	client   *prepaid.Client
	day      prepaid.Date
	float    prepaid.AccountID
	failures int
	notes    []note
}
`)
	var body strings.Builder
	for i := range steps {
		fmt.Fprintf(&source, step, i)
		fmt.Fprintf(&body, called, i)
	}
	fmt.Fprintf(&source, `
func (b *batch) run(ctx context.Context, card prepaid.AccountID) error {
	%s
	var last error
	for range 3 {
		params := prepaid.TransferParams{RequestID: prepaid.NewRequestID(), DestinationAccountID: card}
		if _, last = b.client.Accounts.Transfer(ctx, b.float, params); last == nil {
			return nil
		}
	}
	return last
}
`, body.String())

	tree := vettest.Tree(t)
	directory := filepath.Join(tree, "src", "example.com", "large")
	require.NoError(t, os.MkdirAll(directory, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(directory, "large.go"), []byte(source.String()), 0o600))
	actions := vettest.Analyze(t, tree, []*analysis.Analyzer{requestid.Analyzer}, "example.com/large")
	require.Len(t, actions[0].Diagnostics, 1)
	require.Contains(t, actions[0].Diagnostics[0].Message, "sent again under a new request ID")
}
