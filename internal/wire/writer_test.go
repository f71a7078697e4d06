package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriterRefuses(t *testing.T) {
	t.Parallel()
	var w Writer
	w.Text(`{"text":`, "bad \xff")
	w.Text(`,"more":`, "é")
	require.Error(t, w.Err)
}
