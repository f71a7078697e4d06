package internal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
)

func TestErrorsNameThePlaceAndNeverQuote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"name":"hunter2"`:              "the state is not JSON, or not all of it",
		`{"name":hunter2}`:               "the state is not JSON, or not all of it: byte",
		`{"name":{"inner":["hunter2"]}}`: "the state's member name has a wrong type",
		`{"hunter2":1}`:                  "the state has an unknown member or a value that cannot be read",
	} {
		var into struct {
			Name string `json:"name"`
		}
		err := document.WithoutValues(document.Unmarshal([]byte(text), &into))
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hunter2")
	}
	require.EqualError(t, document.Wrong("hooks", 3, "is there twice"), "hooks[3] is there twice")
}

func TestSortedIsInTheOrderOfTheKeys(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"A1", "B2", "C3"}, document.Sorted(map[string]string{"c": "3", "a": "1", "b": "2"}, func(key, value string) string {
		return strings.ToUpper(key) + value
	}))
	require.Equal(t, []int{}, document.Sorted(map[int]int(nil), func(int, int) int { return 0 }), "a list, not null")
}
