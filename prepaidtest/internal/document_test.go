package internal_test

import (
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
