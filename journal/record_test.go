package journal

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every text of an entry, those that are added one day included.
func TestNoTextOfAnEntryIsInvalid(t *testing.T) {
	t.Parallel()
	whole := Entry{RequestID: "r", State: StateDone}
	_, err := encode(whole)
	require.NoError(t, err)
	texts := 0
	for field := range reflect.TypeFor[Entry]().Fields() {
		if field.Type.Kind() != reflect.String {
			continue
		}
		texts++
		e := whole
		reflect.ValueOf(&e).Elem().FieldByIndex(field.Index).SetString("a\xff")
		_, err := encode(e)
		require.ErrorContains(t, err, "not valid UTF-8", field.Name)
	}
	require.Equal(t, 10, texts)
}
