package accounts

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// newWalletToken fills in the required members of a token.
func (s *Accounts) newWalletToken(a *ledger.Account, now time.Time) state.WalletToken {
	at := wire.DateTime(now).String()
	return state.WalletToken{
		StorageTechnology: "secure_element",
		Device:            state.WalletDevice{DeviceID: "****" + s.ids.Hex(2), DeviceName: "Test phone", DeviceType: "phone"},
		LastCommentID:     s.ids.Digits(8), TokenType: "embedded_secure_element_token",
		TokenRequestorID: s.ids.Digits(11), TokenAssuranceLevel: "1", ProvisioningStatusCode: "success",
		CurrentStatusDateTime: at, CurrentStatusCode: "active", CurrentStatusDescription: "Active",
		FinalTokenizationDecision: "digitisation_approved", TokenActivatedDateTime: at, DigitizationRequestDateTime: at,
		AccountPANSequenceNumber: "000", ExpirationDate: a.PlasticExpiry.Format("0106"), TokenSuffix: s.ids.Digits(4),
		TokenUniqueReference: s.tokenReference(),
	}
}

// tokenReference returns a token_unique_reference, which has 48 characters.
func (s *Accounts) tokenReference() string { return "DSHRMC00" + strings.ToUpper(s.ids.Hex(20)) }

// WalletTokens handles GET /accounts/{id}/tokens: 204 if there is no token (section 1).
func (s *Accounts) WalletTokens(c *exchange.Call) exchange.Response {
	return s.withAccount(c, func(a *ledger.Account) exchange.Response {
		if len(a.WalletTokens) == 0 {
			return exchange.Done(http.StatusNoContent)
		}
		return c.JSON(http.StatusOK, a.WalletTokens)
	})
}

// walletBody is the provisioning response. The name of the third member is spelt as in the reference.
type walletBody struct {
	PANLastFour        string            `json:"pan_last_four"`
	Provider           string            `json:"provider"`
	ProductType        string            `json:"pruduct_type"`
	Registration       *state.Cardholder `json:"registration"`
	DigitizationData   string            `json:"issuer_initiated_digitization_data,omitzero"`
	ActivationData     string            `json:"activation_data,omitzero"`
	EncryptedPassData  string            `json:"encrypted_pass_data,omitzero"`
	EphemeralPublicKey string            `json:"ephemeral_public_key,omitzero"`
}

type walletInput struct {
	Reference    string   `json:"token_unique_reference"`
	Nonce        string   `json:"nonce"`
	Signature    string   `json:"nonce_signature"`
	Certificates []string `json:"certificates"`
}

// ProvisionWallet handles POST /accounts/{id}/wallet/{provider} and adds a token to the account. An account that
// is not active, or lacks sex, email_address or mobile_number, cannot be provisioned.
func (s *Accounts) ProvisionWallet(c *exchange.Call) exchange.Response {
	provider := c.Params[1]
	certified := provider == "applepay"
	in, refusal := exchange.Body(c, func(in *walletInput, faults *wire.Faults) {
		require := func(name string, given bool) {
			if certified && !given {
				faults.Add(name, "is required for that wallet")
			}
		}
		require("nonce", in.Nonce != "")
		require("nonce_signature", in.Signature != "")
		require("certificates", len(in.Certificates) > 0)
	})
	if refusal != nil {
		return *refusal
	}
	if !certified && provider != "googlepay" && provider != "samsungpay" {
		return c.Refuse(http.StatusNotFound, "unsupported_provider", "the wallet provider is not supported")
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	a := l.Account(c.Params[0])
	if a == nil {
		return c.AccountNotFound()
	}
	var faults wire.Faults
	for field, value := range map[string]string{
		"registration.sex": a.Cardholder.Sex, "registration.email_address": a.Cardholder.EmailAddress,
		"registration.mobile_number": a.Cardholder.MobileNumber,
	} {
		if value == "" {
			faults.Add(field, "is needed to tokenise a card")
		}
	}
	if a.Status != "active" {
		faults.Add("status", "must be active")
	}
	if len(faults.Found) > 0 {
		slices.SortFunc(faults.Found, func(a, b wire.Fault) int { return strings.Compare(a.Field, b.Field) })
		return c.Unusable(faults.Describe())
	}
	token := s.newWalletToken(a, s.clock.Now())
	if wire.IsTokenReference(in.Reference) { // the request allows any length, a token only 48 characters
		token.TokenUniqueReference = in.Reference
	}
	token.WalletID = provider
	a.WalletTokens = append(a.WalletTokens, token)
	body := walletBody{
		PANLastFour: a.CardNumber[len(a.CardNumber)-4:], Provider: "mastercard",
		ProductType: a.ProductType, Registration: a.Cardholder,
	}
	if certified {
		body.ActivationData, body.EncryptedPassData, body.EphemeralPublicKey = s.opaque(32), s.opaque(128), s.opaque(65)
	} else {
		body.DigitizationData = s.opaque(128)
	}
	return c.JSON(http.StatusOK, body)
}

func (s *Accounts) opaque(n int) string { return base64.StdEncoding.EncodeToString(s.ids.Bytes(n)) }

// AddWalletToken adds a wallet token to an account. Required fields that are empty get plausible values.
func (s *Accounts) AddWalletToken(_ ledger.Locked, a *ledger.Account, token state.WalletToken) {
	usual := s.newWalletToken(a, s.clock.Now())
	wire.FillIn(&token, &usual)
	a.WalletTokens = append(a.WalletTokens, token)
}
