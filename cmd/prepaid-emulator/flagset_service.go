package main

import (
	"crypto"
	"errors"
	"flag"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// serviceFlags are the flags for behaviour that the reference leaves open.
func (s *settings) serviceFlags(f *flag.FlagSet) {
	option := func(name, usage string, read func(text string) (prepaidtest.Option, error)) {
		f.Func(name, usage, func(text string) error {
			chosen, err := read(text)
			if err == nil {
				s.chosen = append(s.chosen, chosen)
			}
			return err
		})
	}
	option("permitted-companies", "`ids` of the companies whose policy and webhooks the client may change, separated by commas (default all)", permittedCompanies)
	option("allowed-addresses", "`addresses` or prefixes that may call, separated by commas, none of IPv4 larger than /29 (default all)", allowedAddresses)
	option("initial-status", "`status` of a new account (default pre_active)", func(text string) (prepaidtest.Option, error) {
		if !slices.Contains(prepaidtest.AccountStatuses(), text) {
			return nil, errors.New("must be one of " + strings.Join(prepaidtest.AccountStatuses(), ", "))
		}
		return prepaidtest.InitialStatus(text), nil
	})
	option("page-sizes", "`least,normal,most` items per page (default 1,50,500)", pageSizes)
	option("category-without-merchant", "four-digit category `code` of transactions without a merchant (default 0000)", func(text string) (prepaidtest.Option, error) {
		if !fourDigits.MatchString(text) {
			return nil, errors.New("must have four digits, such as 6012")
		}
		return prepaidtest.CategoryWithoutMerchant(text), nil
	})
	option("failed-transfer", "`form` of the empty transaction_id of a failed transfer: string, null, absent or zero (default string)", failedTransfer)
	option("wallet-providers", "three wallet `names` in the path of wallet provisioning; the first needs nonce and certificates (default applepay,googlepay,samsungpay)", walletProviders)
	option("pin-tries", "`number` of wrong tries of a PIN change that block an account; 0 for no limit (default 0)", func(text string) (prepaidtest.Option, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, errors.New("must be a number, 0 or more")
		}
		return prepaidtest.PINTries(n), nil
	})
	option("pin-mgf1", "`hash` of the mask in the OAEP of a PIN change: SHA1, SHA256 or SHA512 (default that of the envelope)", pinMGF1)
	f.BoolVar(&s.newestFirst, "newest-first", false, "list the newest transactions first (default the oldest first)")
	f.BoolVar(&s.retryAfter, "retry-after", false, "send Retry-After with 429")
	f.Func("dip-key", "`APPLICATION=KEY`, two UUIDs that the key exchange knows; may be repeated (in the environment: separated by semicolons; default every pair)", s.addKey)
}

func permittedCompanies(text string) (prepaidtest.Option, error) {
	var ids []prepaid.CompanyID
	for one := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(one), 10, 64)
		if err != nil || id < 1 {
			return nil, errors.New("must be company ids such as 42,77")
		}
		ids = append(ids, prepaid.CompanyID(id))
	}
	return prepaidtest.PermittedCompanies(ids...), nil
}

func allowedAddresses(text string) (prepaidtest.Option, error) {
	var prefixes []netip.Prefix
	for one := range strings.SplitSeq(text, ",") {
		one = strings.TrimSpace(one)
		prefix, err := netip.ParsePrefix(one)
		if address, alone := netip.ParseAddr(one); alone == nil && address.Zone() == "" {
			prefix, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil || (prefix.Addr().Is4() && prefix.Bits() < 29) {
			return nil, errors.New("must be addresses or prefixes such as 192.0.2.8/29,127.0.0.1, none of IPv4 larger than /29")
		}
		prefixes = append(prefixes, prefix)
	}
	return prepaidtest.AllowedAddresses(prefixes...), nil
}

func pageSizes(text string) (prepaidtest.Option, error) {
	var sizes []int
	for one := range strings.SplitSeq(text, ",") {
		size, err := strconv.Atoi(strings.TrimSpace(one))
		if err != nil || size < 1 {
			sizes = nil
			break
		}
		sizes = append(sizes, size)
	}
	if len(sizes) != 3 || !slices.IsSorted(sizes) {
		return nil, errors.New("must be three increasing numbers, such as 1,50,500")
	}
	return prepaidtest.PageSizes(sizes[0], sizes[1], sizes[2]), nil
}

func failedTransfer(text string) (prepaidtest.Option, error) {
	forms := map[string]prepaidtest.EmptyTransactionID{
		"string": prepaidtest.EmptyString, "null": prepaidtest.EmptyNull, "absent": prepaidtest.EmptyAbsent, "zero": prepaidtest.EmptyZero,
	}
	form, known := forms[text]
	if !known {
		return nil, errors.New("must be string, null, absent or zero")
	}
	return prepaidtest.FailedTransfer(form), nil
}

var fourDigits = regexp.MustCompile(`^[0-9]{4}$`)

// walletName is a name that needs no escaping in a path.
var walletName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

func walletProviders(text string) (prepaidtest.Option, error) {
	names := strings.Split(text, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(names)))
	if len(distinct) != 3 || len(names) != 3 || slices.ContainsFunc(names, func(name string) bool { return !walletName.MatchString(name) }) {
		return nil, errors.New("must be three different names of letters, digits, dot, hyphen and underscore, such as applepay,googlepay,samsungpay")
	}
	return prepaidtest.WalletProviders(names[0], names[1], names[2]), nil
}

func pinMGF1(text string) (prepaidtest.Option, error) {
	hashes := map[string]crypto.Hash{"SHA1": crypto.SHA1, "SHA256": crypto.SHA256, "SHA512": crypto.SHA512}
	hash, known := hashes[text]
	if !known {
		return nil, errors.New("must be SHA1, SHA256 or SHA512")
	}
	return prepaidtest.PINMGF1(hash), nil
}

// uuid is the form of the IDs in a key exchange.
var uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

func (s *settings) addKey(text string) error {
	application, key, _ := strings.Cut(text, "=")
	application, key = strings.TrimSpace(application), strings.TrimSpace(key)
	if !uuid.MatchString(application) || !uuid.MatchString(key) {
		return errors.New("must have the form APPLICATION=KEY with two UUIDs")
	}
	s.keys = append(s.keys, dipKey{application, key})
	return nil
}
