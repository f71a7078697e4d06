package contract

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func TestE2EWalletTokens(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		id := s.seed("0")
		tokens, err := s.client.Accounts.WalletTokens(t.Context(), id)
		require.NoError(t, err)
		require.Empty(t, tokens)
		require.Equal(t, []int{204}, s.statuses("GET /accounts/{id}/tokens"))

		whole := prepaidtest.WalletToken{
			StorageTechnology: "trusted_execution_environment",
			Device: prepaidtest.WalletDevice{
				DeviceID: "****12", DeviceName: "Ada's phone", SecureElementID: "SE1", DeviceType: "watch_with_payment_app_in_tee",
			},
			LastCommentID: "11", TokenType: "cof_token", PaymentAppInstanceID: "app-1", WalletID: "googlepay",
			TokenRequestorName: "Wallet", TokenRequestorID: "50110030273", TokenAssuranceLevel: "1",
			ProvisioningStatusDescription: "waits", ProvisioningStatusCode: "awaiting_cardholder_tc_acceptance",
			Suspenders: []string{"issuer", "cardholder"}, CurrentStatusDateTime: "2026-11-01T10:00:00Z", CurrentStatusCode: "suspended",
			CurrentStatusDescription: "Suspended", CorrelationID: "c-1", ActivationCodeExpirationDateTime: "2026-11-02T10:00:00Z",
			FinalTokenizationDecision: "digitisation_approved_prior_authentication_required",
			TokenActivatedDateTime:    "2026-11-01T09:00:00Z", DigitizationRequestDateTime: "2026-11-01T08:00:00Z",
			AccountPANSequenceNumber: "001", ExpirationDate: "1130", TokenSuffix: "4321", PrimaryAccountNumberUniqueReference: "FWSPMC",
			TokenUniqueReference: "DSHRMC0000000000000000000000000000000000000000AB", TokenDeletedFromConsumerApp: true,
		}
		s.AddWalletToken(id, whole)
		s.AddWalletToken(id, prepaidtest.WalletToken{})
		tokens, err = s.client.Accounts.WalletTokens(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, tokens, 2)
		text, err := json.Marshal(tokens[0])
		require.NoError(t, err)
		wanted, err := json.Marshal(whole)
		require.NoError(t, err)
		require.JSONEq(t, string(wanted), string(text))
		require.Equal(t, prepaid.WalletTokenStatusActive, tokens[1].Status)
		for _, known := range []bool{
			tokens[0].StorageTechnology.Known(), tokens[0].Device.Type.Known(), tokens[0].Type.Known(), tokens[0].ProvisioningStatus.Known(),
			tokens[0].Status.Known(), tokens[0].FinalTokenizationDecision.Known(),
		} {
			require.True(t, known)
		}
	})
}

func TestE2EProvisionWallet(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{WalletProviders: [3]string{"wallet-a", "wallet-b", "wallet-c"}, CardNetwork: "visa"}, func(t *testing.T, s *stage) {
		seed := prepaidtest.SeedAccount{ProductType: "gift"}
		id := s.AddAccount(seed)
		account, err := s.client.Accounts.Get(t.Context(), id, prepaid.IncludeCardholder)
		require.NoError(t, err)
		reference := "DSHRMC00000000000000000000000000000000000000000A"
		all := prepaid.ProvisionWalletParams{
			TokenUniqueReference: reference, InitiatingUserID: "ada",
			Nonce: "nonce", NonceSignature: "signature", Certificates: []string{"leaf", "root"},
		}
		for _, c := range []struct {
			provider  prepaid.WalletProvider
			params    prepaid.ProvisionWalletParams
			certified bool
		}{
			{"wallet-a", all, true},
			{"wallet-b", all, false}, // ignores the last three
			{"wallet-c", prepaid.ProvisionWalletParams{}, false},
		} {
			data, err := s.client.Accounts.ProvisionWallet(t.Context(), id, c.provider, c.params)
			require.NoError(t, err, c.provider)
			require.Equal(t, account.CardNumber[len(account.CardNumber)-4:], data.PANLastFour)
			require.Equal(t, "visa", data.Provider)
			require.Equal(t, prepaid.ProductTypeGift, data.ProductType)
			require.Equal(t, account.Cardholder, data.Cardholder)
			require.NotEmpty(t, data.Cardholder.Sex)
			require.NotEmpty(t, data.Cardholder.EmailAddress)
			require.Equal(t, c.certified, data.IssuerInitiatedDigitizationData == "", c.provider)
			for _, certified := range []string{data.ActivationData, data.EncryptedPassData, data.EphemeralPublicKey} {
				require.Equal(t, c.certified, certified != "", c.provider)
			}
		}
		tokens, err := s.client.Accounts.WalletTokens(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, tokens, 3)
		require.Equal(t, []string{"wallet-a", reference, "wallet-b", reference},
			[]string{tokens[0].WalletID, tokens[0].TokenUniqueReference, tokens[1].WalletID, tokens[1].TokenUniqueReference})
	})
}

// A 404 here may mean bad input: it is not ErrNotFound.
func TestE2EProvisionWalletRefused(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		ctx, id := t.Context(), s.seed("0")
		blocked := s.AddAccount(prepaidtest.SeedAccount{Status: "inactive", Cardholder: new(prepaidtest.Cardholder)})
		for code, err := range map[string]error{
			"unsupported_provider": done(s.client.Accounts.ProvisionWallet(ctx, id, "otherpay", prepaid.ProvisionWalletParams{})),
			"invalid_request":      done(s.client.Accounts.ProvisionWallet(ctx, id, "applepay", prepaid.ProvisionWalletParams{})),
			"account_not_found":    done(s.client.Accounts.ProvisionWallet(ctx, "nobody", "googlepay", prepaid.ProvisionWalletParams{})),
		} {
			require.NotErrorIs(t, refused(t, err, 404, code), prepaid.ErrNotFound)
		}
		_, err := s.client.Accounts.ProvisionWallet(ctx, blocked, "googlepay", prepaid.ProvisionWalletParams{})
		require.Equal(t, "invalid fields: registration.email_address is needed to tokenise a card; registration.mobile_number is needed "+
			"to tokenise a card; registration.sex is needed to tokenise a card; status must be active",
			refused(t, err, 404, "invalid_request").Description)
	})
}

func TestE2EExchangeKey(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]prepaidtest.Options{"bare": {}, "quoted": {QuotedStrings: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onStage(t, options, func(t *testing.T, s *stage) {
				id := s.seed("0")
				params := harness.KeyExchange()
				exchange, err := s.client.Accounts.ExchangeKey(t.Context(), id, params)
				require.NoError(t, err)
				require.Equal(t, "application/octet-stream", exchange.Header.Get("Content-Type"))
				data := exchange.Body
				if name == "quoted" { // the quotes are data like the rest
					var text string
					require.NoError(t, json.Unmarshal(data, &text))
					data = []byte(text)
				}
				require.Contains(t, openExchange(t, params.EphemeralKey, data), `"account_id":"`+string(id)+`"`)
				require.NotContains(t, s.sent("POST /accounts/{id}/dip"), base64.StdEncoding.EncodeToString(params.EphemeralKey.Bytes()))
			})
		})
	}
}

// openExchange decrypts the emulator's own format.
func openExchange(t *testing.T, ephemeral prepaid.EphemeralKey, data []byte) string {
	t.Helper()
	block, err := aes.NewCipher(ephemeral.Bytes())
	require.NoError(t, err)
	sealer, err := cipher.NewGCM(block)
	require.NoError(t, err)
	sealed, err := base64.StdEncoding.DecodeString(string(data))
	require.NoError(t, err)
	plain, err := sealer.Open(nil, sealed[:sealer.NonceSize()], sealed[sealer.NonceSize():], nil)
	require.NoError(t, err)
	return string(plain)
}
