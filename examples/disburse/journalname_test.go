package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The journals of a rehearsal and the real run coexist, each with its full name.
func TestDefaultJournal(t *testing.T) {
	t.Parallel()
	for environment, want := range map[string]string{
		"test": "payroll.test.journal", "": "payroll.production.journal",
	} {
		j := &job{file: filepath.Join("pay", "november.csv"), run: "payroll", environment: environment}
		require.Equal(t, filepath.Join("pay", want), j.journal())
	}
}
