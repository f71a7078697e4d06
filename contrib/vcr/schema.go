package prepaidvcr

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
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

// shapeOf derives the schema from the client's own types. A field with a redact tag is scrubbed, with all its members.
// Other fields are kept if their type restricts their content, or if keptMembers lists them. All other texts and
// numbers are scrubbed, so that a new field is safe by default.
func shapeOf(t reflect.Type) *shape { return typeShape(t, false) }

func typeShape(t reflect.Type, marked bool) *shape {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct && !isScalarType(t) {
		return object(structMembers(t, marked))
	}
	s := &shape{}
	if !marked {
		s.keep, s.varies = keptType(t)
		s.amount = t == reflect.TypeFor[prepaid.Amount]()
	}
	s.element = s // a list of texts
	return s
}

func isScalarType(t reflect.Type) bool {
	return slices.Contains([]reflect.Type{
		reflect.TypeFor[time.Time](), reflect.TypeFor[prepaid.Date](), reflect.TypeFor[prepaid.Amount](), reflect.TypeFor[prepaid.Secret](),
		reflect.TypeFor[prepaid.EphemeralKey](),
	}, t)
}

func structMembers(t reflect.Type, marked bool) map[string]*shape {
	members := map[string]*shape{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "" || name == "-" {
			continue
		}
		_, tagged := field.Tag.Lookup("redact")
		inner := typeShape(field.Type, marked || tagged)
		if keep, ok := keptMembers[t.Name()+"."+name]; ok && !marked && !tagged {
			inner = &shape{keep: keep}
		}
		if inner.keep == nil && inner.members == nil {
			if isDateType(field.Type) {
				inner.form = formDate
			}
			if f, ok := narrowMembers[name]; ok {
				inner.form = f
			}
		}
		members[name] = inner
	}
	return members
}

func isDateType(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t == reflect.TypeFor[prepaid.Date]() || t == reflect.TypeFor[time.Time]()
}

// narrowMembers are members that need a special pseudonym, to fit or to pass the client's checks.
var narrowMembers = map[string]form{
	"state": formState, "country": formAlpha2, "passport_issuing_country": formAlpha3, "sex": formSex,
	"passport_expiry": formFuture, "reportdata": formCSV,
	"pan_last_four": formZeros, "token_suffix": formZeros, "account_pan_sequence_number": formZeros,
	"expiration_date": formZeros, "bsb": formZeros, "direct_entry_bsb": formZeros,
}

// keptMembers lists texts and numbers that are kept although their type allows any content: by type and wire name,
// each with the required form.
var keptMembers = map[string]func(string) bool{
	"Transaction.amount_currency":                 isCurrency,
	"Transaction.fee_amount_currency":             isCurrency,
	"Transaction.running_balance_amount_currency": isCurrency,
	"RedeemFundingParams.currency":                isCurrency,
	"RefundFundingParams.currency":                isCurrency,
	"SimulateParams.currency_code":                isCurrency,
	"WalletProvisioning.provider":                 isProvider,
	"Report.totalrecords":                         isCount,
	"WalletToken.token_assurance_level":           matching(`^[0-9]{1,2}$`),
	"Hook.filter_spec":                            isEverything,
	"CreateHookParams.filter_spec":                isEverything,
	"UpdateHookParams.filter_spec":                isEverything,
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
	isRequestType     = matching(`^(new|replace)$`)
	looksLikeCode     = matching(`^[a-z]+(_[a-z]+)+$`)
	isBearer          = matching(`^[Bb]earer$`)
	isGrant           = matching(`^client_credentials$`)
	isSet             = matching(`^(1|true)$`)
	isProvider        = matching(`^[a-z][a-z_]{0,31}$`)
)

// known is implemented by the client's enumerations.
type known interface{ Known() bool }

// keptType returns the check of a type that restricts its values, and whether its values vary from run to run.
func keptType(t reflect.Type) (keep func(string) bool, varies bool) {
	switch t {
	case reflect.TypeFor[bool]():
		return isFlag, false
	case reflect.TypeFor[prepaid.Amount]():
		return isAmount, false
	case reflect.TypeFor[time.Time]():
		return isDate, true
	case reflect.TypeFor[prepaid.MCC]():
		return isCategory, false
	case reflect.TypeFor[prepaid.TransactionType]():
		return isTransactionType, false
	case reflect.TypeFor[prepaid.TransferType]():
		return isTransferType, false
	case reflect.TypeFor[prepaid.RequestType]():
		return isRequestType, false
	}
	if !t.Implements(reflect.TypeFor[known]()) || t == reflect.TypeFor[prepaid.ErrorCode]() {
		return nil, false
	}
	return func(text string) bool { return isKnown(t, text) }, false
}

func isKnown(t reflect.Type, text string) bool {
	value := reflect.New(t).Elem()
	if t.Kind() == reflect.String {
		value.SetString(text)
	} else {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return false
		}
		value.SetInt(n)
	}
	enum, ok := value.Interface().(known)
	return ok && enum.Known()
}

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

// messageShape is a webhook message (2.14) with the payload of the emulator: the reference specifies the envelope only.
func messageShape() *shape {
	return object(map[string]*shape{
		"id": scrubbed(), "hook_id": scrubbed(), "company_id": scrubbed(), "transaction": of[prepaid.Transaction](),
		"timestamp": typeShape(reflect.TypeFor[time.Time](), false),
		"type":      typeShape(reflect.TypeFor[prepaid.MessageType](), false),
	})
}

// tokenShape is the shape of the token response (2.1).
func tokenShape() *shape {
	return object(map[string]*shape{
		"access_token": scrubbed(),
		"token_type":   {keep: isBearer},
		"expires_in":   {keep: isCount},
	})
}

// changeShape is a change of policy: the client does not export its wire type.
func changeShape(rule reflect.Type) *shape {
	return object(map[string]*shape{
		"reason": scrubbed(), "require_approval": {keep: isFlag}, "add": shapeOf(rule), "remove": shapeOf(rule),
	})
}

// sealedShape is a request with the members of a PIN envelope.
func sealedShape() *shape {
	members := structMembers(reflect.TypeFor[prepaid.SealedPINParams](), false)
	delete(members, "envelope")
	maps.Copy(members, structMembers(reflect.TypeFor[prepaid.PINEnvelope](), false))
	return object(members)
}
