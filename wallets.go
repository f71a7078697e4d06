package prepaid

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/redact"
)

// WalletTokenStatus is the state of a wallet token.
type WalletTokenStatus string

const (
	WalletTokenStatusUnknown   WalletTokenStatus = "unknown"
	WalletTokenStatusUnmapped  WalletTokenStatus = "unmapped"
	WalletTokenStatusActive    WalletTokenStatus = "active"
	WalletTokenStatusSuspended WalletTokenStatus = "suspended"
	WalletTokenStatusDeleted   WalletTokenStatus = "deleted"
)

// TokenizationDecision is the issuer's decision.
type TokenizationDecision string

const (
	TokenizationDecisionUnknown                                         TokenizationDecision = "unknown"
	TokenizationDecisionDigitisationDeclined                            TokenizationDecision = "digitisation_declined"
	TokenizationDecisionDigitisationApproved                            TokenizationDecision = "digitisation_approved"
	TokenizationDecisionDigitisationApprovedPriorAuthenticationRequired TokenizationDecision = "digitisation_approved_prior_authentication_required"
)

// WalletDevice is the device that holds a token; every field is optional.
type WalletDevice struct {
	// ID may be masked. The reference lists device_id twice: the first non-empty value counts.
	ID              string `json:"device_id,omitzero" redact:"personal"`
	Name            string `json:"device_name,omitzero" redact:"personal"` // the device's name, which often contains its owner's
	SecureElementID string `json:"secure_element_id,omitzero"`             // identifies the secure element
	Type            string `json:"device_type,omitzero"`                   // the kind of device, such as "phone" or "watch2"
}

// UnmarshalJSON reads a device. Its device_id may appear twice.
func (d *WalletDevice) UnmarshalJSON(data []byte) error {
	type plain WalletDevice
	var read struct {
		plain
		ID firstText `json:"device_id"`
	}
	if err := json.Unmarshal(data, &read, decodeOptions); err != nil {
		return withoutContent(err)
	}
	*d = WalletDevice(read.plain)
	d.ID = string(read.ID)
	return nil
}

// firstText keeps the first non-empty value of a repeated member.
type firstText string

// UnmarshalJSON keeps a value that was read before.
func (t *firstText) UnmarshalJSON(data []byte) error {
	if *t != "" || string(data) == "null" {
		return nil
	}
	return json.Unmarshal(data, (*string)(t), decodeOptions)
}

// WalletToken is a card in a mobile wallet (reference section 2.9).
type WalletToken struct {
	// TokenUniqueReference identifies the token, 48 characters. If a token has none, WalletTokens fails.
	TokenUniqueReference string       `json:"token_unique_reference" required:""`
	StorageTechnology    string       `json:"storage_technology"`               // such as "device_memory" or "secure_element"
	Device               WalletDevice `json:"device"`                           // holds the token
	LastCommentID        string       `json:"last_comment_id"`                  // the last comment on the token
	Type                 string       `json:"token_type"`                       // the kind of token, such as "embedded_secure_element_token"
	PaymentAppInstanceID string       `json:"payment_app_instance_id,omitzero"` // identifies the payment app; optional
	WalletID             string       `json:"wallet_id,omitzero"`               // identifies the wallet; optional
	TokenRequestorName   string       `json:"token_requestor_name,omitzero"`    // the party that requested the token; optional
	TokenRequestorID     string       `json:"token_requestor_id"`               // up to 11 characters
	TokenAssuranceLevel  string       `json:"token_assurance_level"`            // "0" for not authenticated, anything else for authenticated
	// ProvisioningStatusDescription describes ProvisioningStatus; optional.
	ProvisioningStatusDescription string `json:"provisioning_status_description,omitzero"`
	// ProvisioningStatus is "token_being_prepared", "awaiting_cardholder_tc_acceptance", "token_being_delivered", "awaiting_activation",
	// "success", "failed" or "unknown"; optional.
	ProvisioningStatus string   `json:"provisioning_status_code,omitzero"`
	Suspenders         []string `json:"suspenders,omitzero"` // the parties that suspended the token; optional
	// Status is the state of the token. If a token has none, WalletTokens fails.
	Status                    WalletTokenStatus    `json:"current_status_code" required:""`
	StatusDescription         string               `json:"current_status_description"`                    // describes Status
	StatusAt                  time.Time            `json:"current_status_date_time"`                      // when it changed to this status
	CorrelationID             string               `json:"correlation_id,omitzero"`                       // optional
	ActivationCodeExpiresAt   time.Time            `json:"activation_code_expiration_date_time,omitzero"` // optional
	FinalTokenizationDecision TokenizationDecision `json:"final_tokenization_decision,omitzero"`          // optional
	ActivatedAt               time.Time            `json:"token_activated_date_time,omitzero"`            // optional
	DigitizationRequestedAt   time.Time            `json:"digitization_request_date_time,omitzero"`       // optional
	PANSequenceNumber         string               `json:"account_pan_sequence_number"`                   // up to three digits, 000 to 099
	ExpirationDate            string               `json:"expiration_date"`                               // mmyy
	TokenSuffix               string               `json:"token_suffix,omitzero"`                         // the last four digits; optional
	// PrimaryAccountNumberUniqueReference is optional.
	PrimaryAccountNumberUniqueReference string `json:"primary_account_number_unique_reference,omitzero"`
	DeletedFromConsumerApp              bool   `json:"token_deleted_from_consumer_app"` // the wallet app no longer shows the token
}

// WalletTokens returns the wallet tokens of an account, or nil if it has none. Errors: [ErrNotFound]. Safety: read.
// API: GET /accounts/{id}/tokens.
func (s *AccountsService) WalletTokens(ctx context.Context, id AccountID) ([]WalletToken, error) {
	var v validator
	v.readID("id", string(id))
	r := request{op: opAccountsWalletTokens, account: id, path: pathValues{string(id)}, faults: v.faults}
	return receive(ctx, s.client, r, func(a *response) (tokens []WalletToken, err error) {
		if a.status == http.StatusNoContent {
			return nil, nil
		}
		err = decodeItems(a, &tokens)
		return tokens, err
	})
}

// ProvisionWalletParams is the wallet app's input. Two wallets need no input.
type ProvisionWalletParams struct {
	TokenUniqueReference string `json:"token_unique_reference,omitzero"` // optional
	InitiatingUserID     string `json:"initiating_user_id,omitzero"`     // the user who initiated the request; optional
	// Nonce is required by one wallet and ignored by the other two.
	Nonce          string   `json:"nonce,omitzero" redact:"content"`
	NonceSignature string   `json:"nonce_signature,omitzero" redact:"content"` // required by the wallet that requires Nonce, otherwise ignored
	Certificates   []string `json:"certificates,omitzero" redact:"content"`    // required by the wallet that requires Nonce, otherwise ignored
}

func (p ProvisionWalletParams) check(v *validator) {
	v.text("token_unique_reference", p.TokenUniqueReference, 0)
	v.text("initiating_user_id", p.InitiatingUserID, 0)
	v.text("nonce", p.Nonce, 0)
	v.text("nonce_signature", p.NonceSignature, 0)
	for i, certificate := range p.Certificates {
		v.required("certificates["+strconv.Itoa(i)+"]", certificate)
	}
}

// WalletProvisioning is data for a wallet app: IssuerInitiatedDigitizationData or the three members after it. A response with neither is an
// error.
type WalletProvisioning struct {
	PANLastFour string      `json:"pan_last_four" redact:"personal"` // the end of the card number
	Provider    string      `json:"provider"`                        // the card network, as the operator names it
	ProductType ProductType `json:"pruduct_type"`                    // pruduct_type on the wire, as the reference spells it
	Cardholder  *Cardholder `json:"registration"`                    // the cardholder, here with sex and e-mail address
	// IssuerInitiatedDigitizationData is set for the two wallets without a nonce.
	IssuerInitiatedDigitizationData string `json:"issuer_initiated_digitization_data,omitzero" redact:"content" required:"data"`
	ActivationData                  string `json:"activation_data,omitzero" redact:"content" required:"pass"`      // for the wallet with a nonce
	EncryptedPassData               string `json:"encrypted_pass_data,omitzero" redact:"content" required:"pass"`  // for the wallet with a nonce
	EphemeralPublicKey              string `json:"ephemeral_public_key,omitzero" redact:"content" required:"pass"` // for the wallet with a nonce
}

// WalletProvider is one of three wallet services, as the operator names it.
type WalletProvider string

// ProvisionWallet returns data for a wallet app. A 404 may mean bad input, so it is not [ErrNotFound]. After [OutcomeUnknown] use
// WalletTokens. Safety: never repeated. API: POST /accounts/{id}/wallet/{provider}.
func (s *AccountsService) ProvisionWallet(ctx context.Context, id AccountID, provider WalletProvider, params ProvisionWalletParams) (*WalletProvisioning, error) {
	var v validator
	v.pathID("id", string(id))
	v.pathID("provider", string(provider))
	params.check(&v)
	return fetch[WalletProvisioning](ctx, s.client, request{
		op: opAccountsProvisionWallet, account: id, path: pathValues{string(id), string(provider)}, faults: v.faults,
	}.with(params))
}

// ExchangeKeyParams requests encrypted key data ("dip").
type ExchangeKeyParams struct {
	ApplicationID string       `json:"application_id"` // the UUID of the requesting application; required
	KeyID         string       `json:"key_id"`         // the UUID of the application key; required
	EphemeralKey  EphemeralKey `json:"ephemeral_key"`  // used once; required; it is sent in Base64
}

func (p ExchangeKeyParams) check(v *validator) {
	v.uuid("application_id", p.ApplicationID)
	v.uuid("key_id", p.KeyID)
	if len(p.EphemeralKey.Bytes()) != ephemeralKeySize {
		v.fault("ephemeral_key", ruleRequired)
	}
}

// EphemeralKey is a key of 256 random bits for one call of ExchangeKey. It prints and marshals as [REDACTED]. The zero value is refused.
type EphemeralKey [1]Secret // an array for the same reason as Secret

const ephemeralKeySize = 32 // bytes

// NewEphemeralKey returns a new random key.
func NewEphemeralKey() EphemeralKey {
	var key [ephemeralKeySize]byte
	_, _ = rand.Read(key[:]) // never fails: it ends the program instead
	return EphemeralKey{NewSecret(string(key[:]))}
}

// EphemeralKeyFrom copies 32 random bytes. Errors: a *[ValidationError].
func EphemeralKeyFrom(key []byte) (EphemeralKey, error) {
	if len(key) != ephemeralKeySize {
		return EphemeralKey{}, &ValidationError{Faults: []FieldError{{"ephemeral_key", "must be 32 bytes"}}}
	}
	return EphemeralKey{NewSecret(string(key))}, nil
}

// Bytes returns the 32 bytes, to decrypt the response. Never log them.
func (k EphemeralKey) Bytes() []byte { return []byte(k[0].Reveal()) }

func (k EphemeralKey) Format(f fmt.State, verb rune) { k[0].Format(f, verb) }

// Equal compares the keys, as [Secret.Equal] does.
func (k EphemeralKey) Equal(other EphemeralKey) bool { return k[0].Equal(other[0]) }

func (k EphemeralKey) LogValue() slog.Value { return k[0].LogValue() }

func (k EphemeralKey) MarshalText() ([]byte, error) { return k[0].MarshalText() }

// encodeKey writes a key for the service, in Base64.
func encodeKey(e *jsontext.Encoder, k EphemeralKey) error {
	return e.WriteToken(jsontext.String(base64.StdEncoding.EncodeToString(k.Bytes())))
}

// UnmarshalText reads 32 bytes in Base64. Errors: [ErrSyntax], *[ValidationError].
func (k *EphemeralKey) UnmarshalText(text []byte) error {
	if string(text) == redact.Mark {
		return errRedactedSecret
	}
	key, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		key = nil // refused below, with the same rule as a wrong length
	}
	made, err := EphemeralKeyFrom(key)
	if err == nil {
		*k = made
	}
	return err
}

// ExchangeKey exchanges encrypted key data for an account. The body of the result is the encrypted data, of unspecified format: white space
// and JSON quotes are part of it. A response uses up the ephemeral key: the data is returned whatever its content or type
// (application/octet-stream in the reference), and decrypting it shows whether it is right. Only an empty body and declared HTML are a
// *[DecodeError]. After [OutcomeUnknown] use a new key. Errors: [CodeBadApplicationID], [CodeBadKeyID], [CodeBadEphemeralKey],
// [CodeBadAccount]. Safety: never repeated. API: POST /accounts/{id}/dip.
func (s *AccountsService) ExchangeKey(ctx context.Context, id AccountID, params ExchangeKeyParams) (*RawResponse, error) {
	v := s.client.validator()
	v.pathID("id", string(id))
	params.check(&v)
	r := request{op: opAccountsExchangeKey, account: id, path: pathValues{string(id)}, faults: v.faults}.with(params)
	return receive(ctx, s.client, r, func(a *response) (*RawResponse, error) { return a.copied(), a.checkData() })
}

// checkData refuses the body of a key exchange only if it cannot be data.
func (r *response) checkData() error {
	switch {
	case len(r.body) == 0:
		return r.undecodable(errEmptyBody)
	case !r.declared(responseData) && (r.mediaType == "text/html" || r.mediaType == "application/xhtml+xml"):
		return r.undecodable(errUnexpectedBody)
	}
	return nil
}
