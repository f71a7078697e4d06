package internal_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/address"
)

// A query is written as url.Values writes it, whatever the order in which it was made, but with %20 for a space.
func TestQueryEncodesAsValuesDo(t *testing.T) {
	t.Parallel()
	pairs := [][2]string{{"page_size", "10"}, {"a", "x y"}, {"first_name", "Zo\u00eb & \"+\""}, {"z", ""}, {"page_number", "1"}, {"a", "again"}, {"b=", "/?#%"}}
	var base url.URL
	var q address.Query
	values := url.Values{}
	for _, p := range pairs {
		q = q.With(p[0], p[1])
		values.Set(p[0], p[1])
		u := address.Resolve(&base, "/", address.Values{}, q)
		require.Equal(t, strings.ReplaceAll(values.Encode(), "+", "%20"), u.RawQuery)
	}
	u := address.Resolve(&base, "/", address.Values{}, nil)
	require.Empty(t, u.RawQuery)
}
