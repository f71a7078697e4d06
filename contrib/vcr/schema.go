package prepaidvcr

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
)

// shape is the schema of a JSON value. Values that the shape does not name, or that its function keep refuses, are scrubbed.
type shape struct {
	// keep reports whether a number, text or flag may stay; nil keeps none.
	keep func(text string) bool
	// amount: a pseudonym would be another amount.
	amount bool
	// varies means that the value is kept and not compared.
	varies bool
	// form is the form of the pseudonym.
	form form
	// members are the shapes of an object's members, by wire name.
	members map[string]*shape
	// element is the shape of an array's elements.
	element *shape
}

// scrubbed is the shape of an unknown value.
func scrubbed() *shape { return &shape{} }

// object returns the shape of one object or of an array of such objects: the service uses both for company searches.
func object(members map[string]*shape) *shape {
	s := &shape{members: members}
	s.element = s
	return s
}

// shapeOf derives a shape from the reference; nil without a schema. A member that is personal or secret is scrubbed, with all its members.
// Other values are kept if the reference restricts their content, or if keptNames lists the member. All other texts and numbers are
// scrubbed, so that a new member is safe by default.
func shapeOf(name string, known *reference.Schema, marked bool) *shape {
	if known == nil {
		return nil
	}
	marked = marked || known.Redact != ""
	if known.Items != nil {
		return shapeOf(name, known.Items, marked)
	}
	if len(known.Properties) > 0 {
		members := map[string]*shape{}
		for _, member := range known.Properties {
			members[member.Name] = shapeOf(member.Name, member.Value, marked)
		}
		return object(members)
	}
	s := &shape{}
	s.element = s // a list of texts
	if !marked {
		s.amount = strings.HasSuffix(name, "amount") || known.Name == "Amount"
		s.keep, s.varies = kept(name, known), known.Format == dateTime
		if s.amount {
			s.keep = isAmount
		}
	}
	if s.keep == nil {
		if known.Format == dateTime {
			s.form = formDate
		}
		if form, ok := narrowMembers[name]; ok {
			s.form = form
		}
	}
	return s
}

const dateTime = "date-time"

// kept returns the check of a value that may be kept, or nil.
func kept(name string, known *reference.Schema) func(string) bool {
	words := slices.Collect(maps.Keys(known.GoValues))
	for _, word := range known.Enum {
		words = append(words, fmt.Sprint(word))
	}
	switch {
	case keptNames[name] != nil && known.GoEnum == "":
		return keptNames[name]
	case known.Format == dateTime:
		return isDate
	case slices.Contains(known.Type, "boolean"):
		return isFlag
	case known.GoEnum == "TransferType":
		return isTransferType // other values are card to card
	case known.GoEnum == "TransactionType":
		return isTransactionType
	case len(words) > 0:
		return func(text string) bool { return slices.Contains(words, text) }
	}
	return nil
}

// narrowMembers are members that need a special pseudonym, to fit or to pass the client's checks.
var narrowMembers = map[string]form{
	"state": formState, "country": formAlpha2, "passport_issuing_country": formAlpha3, "sex": formSex,
	"passport_expiry": formFuture, "reportdata": formCSV,
	"pan_last_four": formZeros, "token_suffix": formZeros, "account_pan_sequence_number": formZeros,
	"expiration_date": formZeros, "bsb": formZeros, "direct_entry_bsb": formZeros,
}

// keptNames lists texts and numbers that are kept although the reference does not restrict them, with the required form, and parameters.
var keptNames = map[string]func(string) bool{
	"amount_currency": isCurrency, "fee_amount_currency": isCurrency, "running_balance_amount_currency": isCurrency,
	"currency": isCurrency, "currency_code": isCurrency,
	"mcc": isCategory, "merchant_category": isCategory, "merchant_category_code": isCategory, "category_code": isCategory, "code": isCategory, "add": isCategory, "remove": isCategory,
	"provider": isProvider, "totalrecords": isCount, "expires_in": isCount, "page_number": isCount, "page_size": isCount,
	"token_type": isBearer, "token_assurance_level": matching(`^[0-9]{1,2}$`), "filter_spec": isEverything,
	"with_personal": isSet, "with_directentry": isSet, "with_freetext": isSet, "with_bpay": isSet, "with_tokeninfo": isSet,
	"with_correspondingaccountid": isSet, "with_cardholdertype": isSet,
}

// The forms of kept values.
var (
	isCurrency        = matching(`^([A-Z]{3}|[0-9]{3})$`)
	isCount           = matching(`^[0-9]{1,9}$`)
	isEverything      = matching(`^\*$`)
	isAmount          = matching(`^-?[0-9]{1,10}(\.[0-9]{1,4})?$`)
	isCategory        = matching(`^[0-9]{1,4}$`)
	isTransactionType = matching(`^[0-9]{4}$`)
	isTransferType    = matching(`^[0-9]{1,5}$`)
	looksLikeCode     = matching(`^[a-z]+(_[a-z]+)+$`)
	isBearer          = matching(`^[Bb]earer$`)
	isGrant           = matching(`^client_credentials$`)
	isSet             = matching(`^(1|true)$`)
	isProvider        = matching(`^[a-z][a-z_]{0,31}$`)
)

// isErrorCode accepts codes that the client lists, and words joined by "_": a single word may be a name.
func isErrorCode(text string) bool {
	const longest = 64
	return prepaid.ErrorCode(text).Known() || len(text) <= longest && looksLikeCode(text)
}

func isFlag(text string) bool {
	return strings.EqualFold(text, "true") || strings.EqualFold(text, "false")
}

func matching(pattern string) func(string) bool { return regexp.MustCompile(pattern).MatchString }

// errorShape is the shape of every error response (section 7 of the reference). A code must have the form of the
// reference's codes, as in the client's errors; the description may repeat the request.
func errorShape() *shape {
	return object(map[string]*shape{
		"error":             {keep: isErrorCode},
		"error_description": scrubbed(),
	})
}
