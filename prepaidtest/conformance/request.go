package conformance

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"github.com/cardprograms/prepaid/internal/reference"
)

const (
	noAccount   = "conformance-unknown"                  // an account that does not exist
	noCompany   = 999999999                              // a company that does not exist
	unknownUUID = "00000000-0000-4000-8000-00000000c0de" // a hook, report or operation that does not exist
)

// values are parameters and members of a request by name.
type values map[string]any

// setting is a value that is a field of Target.
type setting string

// usual has the values of a request that must succeed. An enumeration has its first value, another required member "conformance".
func usual() values {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	return values{
		"Accounts id": setting("AccountID"), "Policy id": setting("CompanyID"), "companyid": setting("CompanyID"),
		"client_id": setting("ProgramClientID"), "client_account_key": setting("AccountKey"), "provider": setting("WalletProvider"),
		"templatename": setting("ReportTemplate"), "include_column_headers": false,
		"company_id": setting("CompanyID"), "initial_load_amount": 0, "first_name": "Conformance", "last_name": "Check",
		"date_of_birth": "1990-01-01T00:00:00Z", "state": "NSW", "country": "AU", "plastic_enabled": true,
		"application_id": setting("ApplicationID"), "key_id": setting("KeyID"), "ephemeral_key": base64.StdEncoding.EncodeToString(secret),
		"amount": json.Number("0.01"), "destination_account_id": setting("SecondAccountID"), "transaction_type": 1,
		"bsb": setting("PayOutBSB"), "account_number": setting("PayOutNumber"), "account_name": setting("PayOutName"),
		"account_id": setting("AccountID"), "originating_transaction": 1,
		"clearing_adjustment": false, "currency": "036", "card_acceptor_id": "CONFORMANCE", "correlation_id": "conf-" + rand.Text(),
		"merchant_category": "5411", "terminal_id": "CONF01", "acquirer_id": "999999", "merchant_id": "CONFORMANCE", "mcc": "5411",
		"eaid": setting("AccountID"), "device_id": "conformance", "ip_address": "192.0.2.1", "communication_method": "sms",
		"operation_id": unknownUUID, "encrypted_data": "00", "public_key_fingerprint": "00", "encrypted_key": "00", "iv": "00",
		"uri": setting("HookReceiver"), "scope": []any{setting("CompanyID")}, "filter_spec": "*", "enabled": false,
		"hmac_key_id": "conformance", "hmac_key_secret": strings.Repeat("0a", 32),
	}
}

// request is a request by the document.
type request struct {
	operation *reference.Operation
	path      string
	query     url.Values
	body      string

	target  *Target
	usual   values
	needs   []string // settings in it
	missing bool     // a parameter has no value
}

// newRequest makes the smallest request that the reference allows, with changes.
func newRequest(t *Target, operation string, changes values) *request {
	o := reference.Read().Operation(operation)
	r := &request{operation: o, path: strings.TrimPrefix(o.Path, "/"), query: url.Values{}, target: t, usual: usual()}
	for _, parameter := range o.Params {
		value, given := changes[parameter.Name]
		if !given && parameter.Required {
			value, given = r.value(parameter.Name, parameter.Schema)
			r.missing = r.missing || !given
		}
		if parameter.In == "path" {
			r.path = strings.Replace(r.path, "{"+parameter.Name+"}", url.PathEscape(fmt.Sprint(value)), 1)
		} else if given {
			r.query.Set(parameter.Name, fmt.Sprint(value))
		}
	}
	if schema := o.Request.JSON(); schema != nil {
		text, _ := json.Marshal(r.object(schema, changes)) // all values are plain
		r.body = string(text)
	}
	return r
}

// object has the required members, and those with a known value if the reference marks none as required.
func (r *request) object(s *reference.Schema, changes values) values {
	made := values{}
	for _, member := range s.Properties {
		value, given := changes[member.Name]
		if !given && (s.Required == nil || s.Requires(member.Name)) {
			value, given = r.value(member.Name, member.Value)
			if !given && s.Requires(member.Name) {
				value, given = "conformance", true
			}
		}
		if given {
			made[member.Name] = value
		}
	}
	return made
}

func (r *request) value(name string, s *reference.Schema) (value any, ok bool) {
	if len(s.Enum) > 0 {
		return s.Enum[0], true
	}
	if len(s.Properties) > 0 {
		return r.object(s, nil), true
	}
	if value, ok = r.usual[name]; !ok {
		value, ok = r.usual[r.operation.Tags[0]+" "+name]
	}
	return r.resolve(value), ok
}

// resolve replaces settings by their values.
func (r *request) resolve(value any) any {
	switch value := value.(type) {
	case setting:
		r.needs = append(r.needs, string(value))
		return reflect.ValueOf(*r.target).FieldByName(string(value)).Interface()
	case []any:
		return []any{r.resolve(value[0])}
	}
	return value
}
