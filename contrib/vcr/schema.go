package prepaidvcr

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/wire"
)

// shape is the schema of a JSON value, or of each element of an array. The zero value is the shape of a value of which nothing is
// known, or kept.
type shape struct {
	// keep reports whether a number, text or flag is kept; nil keeps none.
	keep func(text string) bool
	// amount: a recording without the value fails, because a pseudonym would be another amount.
	amount bool
	// constant replaces every text if a pseudonym would be too long, or would not pass the client's checks.
	constant string
	// table: a text in CSV.
	table bool
	// members are the shapes of an object's members, by wire name.
	members map[string]*shape
}

// shapeOf derives a shape from the reference; nil without a schema. A member that is personal or secret is scrubbed, with all its members.
// Other values are kept if the reference restricts their content, or if keptNames lists the member. All other texts and numbers are
// scrubbed, so that a new member is safe by default.
func (s *schema) shapeOf(name string, known *reference.Schema, marked bool) *shape {
	if known == nil {
		return nil
	}
	marked = marked || known.Redact != ""
	if known.Items != nil {
		return s.shapeOf(name, known.Items, marked)
	}
	if len(known.Properties) > 0 {
		made := &shape{members: map[string]*shape{}}
		for _, member := range known.Properties {
			made.members[member.Name] = s.shapeOf(member.Name, member.Value, marked)
		}
		return made
	}
	made := &shape{table: name == "reportdata"}
	if !marked {
		made.amount = strings.HasSuffix(name, "amount") || known.Name == "Amount"
		if made.keep = kept(name, known); made.amount {
			made.keep = isAmount
		}
	}
	if made.keep == nil {
		s.scrubbed[name] = true
		if made.constant = constants[name]; made.constant == "" && known.Format == dateTime {
			made.constant = someDay
		}
	}
	return made
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
	case strings.HasPrefix(name, "with_"): // asks for a part of an account
		return isSet
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

// someDay replaces every personal date; a passport must expire in the future.
const someDay = "1900-01-01T00:00:00Z"

// constants replace the values of these members.
var constants = map[string]string{
	"state": "ANON", "country": "ZZ", "passport_issuing_country": "ZZZ", "sex": "F", "passport_expiry": "2999-01-01T00:00:00Z",
	"pan_last_four": "0000", "token_suffix": "0000", "account_pan_sequence_number": "000", "expiration_date": "0000",
	"bsb": "000000", "direct_entry_bsb": "000000",
}

// keptNames lists texts and numbers that are kept although the reference does not restrict them, with the required form, and parameters.
var keptNames = map[string]func(string) bool{
	"amount_currency": isCurrency, "fee_amount_currency": isCurrency, "running_balance_amount_currency": isCurrency,
	"currency": isCurrency, "currency_code": isCurrency,
	"mcc": isCategory, "merchant_category": isCategory, "merchant_category_code": isCategory, "category_code": isCategory, "code": isCategory, "add": isCategory, "remove": isCategory,
	"provider": isProvider, "totalrecords": isCount, "expires_in": isCount, "page_number": isCount, "page_size": isCount,
	"token_type": isBearer, "token_assurance_level": matching(`^[0-9]{1,2}$`), "filter_spec": isEverything,
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

func matching(pattern string) func(string) bool { return regexp.MustCompile(pattern).MatchString }

// isErrorCode accepts codes that the client lists, and words joined by "_": a single word may be a name.
func isErrorCode(text string) bool {
	const longest = 64
	return prepaid.Known(prepaid.ErrorCode(text)) || len(text) <= longest && looksLikeCode(text)
}

func isFlag(text string) bool {
	return strings.EqualFold(text, "true") || strings.EqualFold(text, "false")
}

// isDate reports whether value is a time, as the client reads it. A longer fraction could hide a number.
func isDate(value string) bool {
	if len(value) < len("2006-01-02") || len(value) > len("2006-01-02T15:04:05.000000000+00:00") || value[4] != '-' && value[8] != 'T' {
		return false
	}
	_, _, ok := wire.ParseTime(value)
	return ok
}
