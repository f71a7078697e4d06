package prepaidtest

import (
	"net/netip"
	"slices"
)

// AllowedAddresses sets the address whitelist of section 5: other callers get 403 forbidden before any other check.
// As in the reference, no IPv4 subnet larger than /29 is accepted. Default, and without a prefix: all addresses.
func AllowedAddresses(prefixes ...netip.Prefix) Option {
	return func(s *settings) { s.addresses = slices.Clone(prefixes) }
}
