package internal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/reports"
)

func TestAFixedReportNeedsAHeaderRow(t *testing.T) {
	t.Parallel()
	_, ok := reports.Fixed("")
	require.False(t, ok)
}
