package prepaidtest

import (
	"net/netip"
	"slices"
)

// AllowedAddresses sets the address whitelist of section 5: callers from elsewhere get 403 forbidden before anything
// else is checked. As the reference has it, no IPv4 subnet larger than /29 is accepted. Default, and with no
// prefix: all addresses.
func AllowedAddresses(prefixes ...netip.Prefix) Option {
	return func(s *settings) { s.addresses = slices.Clone(prefixes) }
}
