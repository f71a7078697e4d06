package gate

import (
	"net/netip"
	"slices"
)

// Whitelist are the addresses that may call; an empty list admits all (section 5).
type Whitelist []netip.Prefix

// TooWide reports whether a prefix is invalid or larger than a whitelist allows.
func TooWide(prefix netip.Prefix) bool {
	least := 0
	switch address := prefix.Addr(); {
	case address.Is4():
		least = 29
	case address.Is4In6():
		least = 96 + 29
	}
	return !prefix.IsValid() || prefix.Bits() < least
}

// Admits reports whether a client may call.
func (w Whitelist) Admits(client string) bool {
	if len(w) == 0 {
		return true
	}
	address, err := netip.ParseAddr(client)
	if err != nil {
		return false
	}
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(w, func(prefix netip.Prefix) bool {
		if prefix.Addr().Is4In6() {
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		}
		return prefix.Contains(address)
	})
}
