package prepaidtest

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// WalletToken is a card in a mobile wallet (2.9), in wire words.
type WalletToken struct {
	// StorageTechnology is where the wallet keeps the token.
	StorageTechnology string `json:"storage_technology"`
	// Device is the device the token is on.
	Device WalletDevice `json:"device"`
	// LastCommentID is required.
	LastCommentID string `json:"last_comment_id"`
	// TokenType is the kind of token.
	TokenType string `json:"token_type"`
	// PaymentAppInstanceID is optional.
	PaymentAppInstanceID string `json:"payment_app_instance_id,omitzero"`
	// WalletID is optional.
	WalletID string `json:"wallet_id,omitzero"`
	// TokenRequestorName is optional.
	TokenRequestorName string `json:"token_requestor_name,omitzero"`
	// TokenRequestorID has up to 11 characters.
	TokenRequestorID string `json:"token_requestor_id"`
	// TokenAssuranceLevel is "0" when not authenticated.
	TokenAssuranceLevel string `json:"token_assurance_level"`
	// ProvisioningStatusDescription is optional.
	ProvisioningStatusDescription string `json:"provisioning_status_description,omitzero"`
	// ProvisioningStatusCode is optional.
	ProvisioningStatusCode string `json:"provisioning_status_code,omitzero"`
	// Suspenders lists who suspended the token.
	Suspenders []string `json:"suspenders,omitzero"`
	// CurrentStatusDateTime is a date-time.
	CurrentStatusDateTime string `json:"current_status_date_time"`
	// CurrentStatusCode is unknown, unmapped, active, suspended or deleted.
	CurrentStatusCode string `json:"current_status_code"`
	// CurrentStatusDescription is required.
	CurrentStatusDescription string `json:"current_status_description"`
	// CorrelationID is optional.
	CorrelationID string `json:"correlation_id,omitzero"`
	// ActivationCodeExpirationDateTime is an optional date-time.
	ActivationCodeExpirationDateTime string `json:"activation_code_expiration_date_time,omitzero"`
	// FinalTokenizationDecision is optional.
	FinalTokenizationDecision string `json:"final_tokenization_decision,omitzero"`
	// TokenActivatedDateTime is an optional date-time.
	TokenActivatedDateTime string `json:"token_activated_date_time,omitzero"`
	// DigitizationRequestDateTime is an optional date-time.
	DigitizationRequestDateTime string `json:"digitization_request_date_time,omitzero"`
	// AccountPANSequenceNumber is from 000 to 099.
	AccountPANSequenceNumber string `json:"account_pan_sequence_number"`
	// ExpirationDate has the form mmyy.
	ExpirationDate string `json:"expiration_date"`
	// TokenSuffix is the last four digits.
	TokenSuffix string `json:"token_suffix,omitzero"`
	// PrimaryAccountNumberUniqueReference is optional.
	PrimaryAccountNumberUniqueReference string `json:"primary_account_number_unique_reference,omitzero"`
	// TokenUniqueReference has 48 characters.
	TokenUniqueReference string `json:"token_unique_reference"`
	// TokenDeletedFromConsumerApp is required.
	TokenDeletedFromConsumerApp bool `json:"token_deleted_from_consumer_app"`
}

// WalletDevice is the device of a wallet token; every field is optional.
type WalletDevice struct {
	// DeviceID may be masked.
	DeviceID string `json:"device_id,omitzero"`
	// DeviceName is free text.
	DeviceName string `json:"device_name,omitzero"`
	// SecureElementID names the chip.
	SecureElementID string `json:"secure_element_id,omitzero"`
	// DeviceType is one of the values of 2.9.
	DeviceType string `json:"device_type,omitzero"`
}

// newWalletToken fills in what a token must have.
func (s *Server) newWalletToken(a *account, now time.Time) WalletToken {
	at := wire.DateTime(now).String()
	return WalletToken{
		StorageTechnology: "secure_element",
		Device:            WalletDevice{DeviceID: "****" + s.ids.Hex(2), DeviceName: "Test phone", DeviceType: "phone"},
		LastCommentID:     s.ids.Digits(8), TokenType: "embedded_secure_element_token",
		TokenRequestorID: s.ids.Digits(11), TokenAssuranceLevel: "1", ProvisioningStatusCode: "success",
		CurrentStatusDateTime: at, CurrentStatusCode: "active", CurrentStatusDescription: "Active",
		FinalTokenizationDecision: "digitisation_approved", TokenActivatedDateTime: at, DigitizationRequestDateTime: at,
		AccountPANSequenceNumber: "000", ExpirationDate: a.plasticExpiry.UTC().Format("0106"), TokenSuffix: s.ids.Digits(4),
		TokenUniqueReference: s.tokenReference(),
	}
}

// tokenReference has 48 characters.
func (s *Server) tokenReference() string { return "DSHRMC00" + strings.ToUpper(s.ids.Hex(20)) }

// walletTokens answers GET /accounts/{id}/tokens; 204 when there are none (section 1).
func (s *Server) walletTokens(c *exchange.Call) exchange.Response {
	return s.withAccount(c, func(a *account) exchange.Response {
		if len(a.wallet) == 0 {
			return exchange.Done(http.StatusNoContent)
		}
		return c.JSON(http.StatusOK, a.wallet)
	})
}

// walletBody is the answer of the provisioning; the name of its third member is spelled as the reference does.
type walletBody struct {
	PANLastFour        string    `json:"pan_last_four"`
	Provider           string    `json:"provider"`
	ProductType        string    `json:"pruduct_type"`
	Registration       *Personal `json:"registration"`
	DigitizationData   string    `json:"issuer_initiated_digitization_data,omitzero"`
	ActivationData     string    `json:"activation_data,omitzero"`
	EncryptedPassData  string    `json:"encrypted_pass_data,omitzero"`
	EphemeralPublicKey string    `json:"ephemeral_public_key,omitzero"`
}

// provisionWallet answers POST /accounts/{id}/wallet/{provider} and adds a token to the account. An account that
// is not active, or lacks sex, email_address or mobile_number, cannot be provisioned.
func (s *Server) provisionWallet(c *exchange.Call) exchange.Response {
	provider := c.Params[1]
	certified := provider == s.settings.walletWithCertificates
	if !certified && !slices.Contains(s.settings.otherWallets, provider) {
		return c.Refuse(http.StatusNotFound, "unsupported_provider", "the wallet provider is not supported")
	}
	var in struct {
		reference, initiatingUser, nonce, signature string
		certificates                                []string
	}
	if refusal := c.BindBody(func(b *wire.Reader) {
		b.String("token_unique_reference", &in.reference).Form(isTokenReference, "must have 48 characters")
		b.String("initiating_user_id", &in.initiatingUser)
		nonce, signature := b.String("nonce", &in.nonce), b.String("nonce_signature", &in.signature)
		certificates := b.Strings("certificates", &in.certificates)
		if certified {
			nonce.Required().Min(1)
			signature.Required().Min(1)
			certificates.Required().Limit(len(in.certificates) > 0, "must have at least one element")
		}
	}); refusal != nil {
		return *refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[c.Params[0]]
	if a == nil {
		return c.AccountNotFound()
	}
	var faults wire.Faults
	for field, value := range map[string]string{
		"registration.sex": a.personal.Sex, "registration.email_address": a.personal.EmailAddress,
		"registration.mobile_number": a.personal.MobileNumber,
	} {
		if value == "" {
			faults.Add(field, "is needed to tokenise a card")
		}
	}
	if a.status != "active" {
		faults.Add("status", "must be active")
	}
	if len(faults.Found) > 0 {
		slices.SortFunc(faults.Found, func(a, b wire.Fault) int { return strings.Compare(a.Field, b.Field) })
		return c.Unusable(faults.Describe())
	}
	token := s.newWalletToken(a, s.clock.Now())
	if in.reference != "" {
		token.TokenUniqueReference = in.reference
	}
	token.WalletID = provider
	a.wallet = append(a.wallet, token)
	body := walletBody{
		PANLastFour: a.cardNumber[len(a.cardNumber)-4:], Provider: s.settings.cardNetwork,
		ProductType: a.productType, Registration: &a.personal.Personal,
	}
	if certified {
		body.ActivationData, body.EncryptedPassData, body.EphemeralPublicKey = s.opaque(32), s.opaque(128), s.opaque(65)
	} else {
		body.DigitizationData = s.opaque(128)
	}
	return c.JSON(http.StatusOK, body)
}

func isTokenReference(text string) bool { return utf8.RuneCountInString(text) == 48 }

func (s *Server) opaque(n int) string { return base64.StdEncoding.EncodeToString(s.ids.Bytes(n)) }

// AddWalletToken adds a wallet token to an account. Required fields that are empty get plausible values.
func (s *Server) AddWalletToken(eaid string, token WalletToken) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.known(eaid); a != nil {
		s.putWalletToken(a, token)
	}
}

// putWalletToken is AddWalletToken for a caller that holds s.mu.
func (s *Server) putWalletToken(a *account, token WalletToken) {
	usual := s.newWalletToken(a, s.clock.Now())
	for _, field := range []struct{ have, want *string }{
		{&token.StorageTechnology, &usual.StorageTechnology}, {&token.LastCommentID, &usual.LastCommentID},
		{&token.TokenType, &usual.TokenType}, {&token.TokenRequestorID, &usual.TokenRequestorID},
		{&token.TokenAssuranceLevel, &usual.TokenAssuranceLevel}, {&token.CurrentStatusDateTime, &usual.CurrentStatusDateTime},
		{&token.CurrentStatusCode, &usual.CurrentStatusCode}, {&token.CurrentStatusDescription, &usual.CurrentStatusDescription},
		{&token.AccountPANSequenceNumber, &usual.AccountPANSequenceNumber}, {&token.ExpirationDate, &usual.ExpirationDate},
		{&token.TokenUniqueReference, &usual.TokenUniqueReference},
	} {
		if *field.have == "" {
			*field.have = *field.want
		}
	}
	token.Suspenders = slices.Clone(token.Suspenders)
	a.wallet = append(a.wallet, token)
}
