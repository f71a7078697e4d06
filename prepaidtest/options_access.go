package prepaidtest

import (
	"net/netip"
	"slices"
)

// AllowedAddresses sets the address whitelist of section 5: callers from elsewhere get 403 forbidden before anything
// else is looked at. As the reference has it, no IPv4 subnet larger than /29 is accepted. Default, and with no
// prefix: everybody.
func AllowedAddresses(prefixes ...netip.Prefix) Option {
	return func(s *settings) { s.addresses = slices.Clone(prefixes) }
}

// tooWide tells whether a prefix is no prefix or larger than the whitelist takes.
func tooWide(prefix netip.Prefix) bool {
	least := 0
	switch address := prefix.Addr(); {
	case address.Is4():
		least = 29
	case address.Is4In6():
		least = 96 + 29
	}
	return !prefix.IsValid() || prefix.Bits() < least
}

func (s *settings) mayCall(client string) bool {
	if len(s.addresses) == 0 {
		return true
	}
	address, err := netip.ParseAddr(client)
	if err != nil {
		return false
	}
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(s.addresses, func(prefix netip.Prefix) bool {
		if prefix.Addr().Is4In6() {
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		}
		return prefix.Contains(address)
	})
}
