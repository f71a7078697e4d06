package prepaidredis

import (
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/cardprograms/prepaid"
)

// longestKey is the longest key or ID accepted, in bytes.
const longestKey = 128

// faults collects the faults of the options.
type faults []prepaid.Fault

func (f *faults) require(ok bool, field, rule string) {
	if !ok {
		*f = append(*f, prepaid.Fault{Field: field, Rule: rule})
	}
}

func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return &prepaid.ValidationError{Faults: f}
}

// checkClient checks that client ends its calls with their context. A client of an unknown type is accepted.
func (f *faults) checkClient(client redis.UniversalClient) {
	ends := true
	switch c := client.(type) {
	case nil:
		f.require(false, "client", "is required")
	case *redis.Client:
		ends = c != nil && c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		ends = c != nil && c.Options().ContextTimeoutEnabled
	case *redis.Ring:
		ends = c != nil && c.Options().ContextTimeoutEnabled
	}
	f.require(ends, "client", "must have ContextTimeoutEnabled")
}

func (f *faults) checkKey(field, key string) {
	f.require(len(key) <= longestKey && !strings.ContainsFunc(key, notPlain), field,
		"must be at most 128 printable ASCII characters without white space")
}

func notPlain(r rune) bool { return r <= ' ' || r > '~' }
