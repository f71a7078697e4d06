package prepaid_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The wallets in which a card is. An account without any gives an empty list.
func ExampleAccountsService_WalletTokens() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")
	srv.AddWalletToken(string(id), prepaidtest.WalletToken{
		Device: prepaidtest.WalletDevice{DeviceType: "phone"}, TokenSuffix: "0042",
	})
	srv.AddWalletToken(string(id), prepaidtest.WalletToken{
		Device: prepaidtest.WalletDevice{DeviceType: "watch2"}, CurrentStatusCode: "suspended", TokenSuffix: "0043",
	})

	tokens, err := client.Accounts.WalletTokens(context.Background(), id)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, token := range tokens {
		fmt.Println(token.TokenSuffix, token.Device.Type, token.Status, token.Status == prepaid.WalletTokenStatusActive)
	}
	// Output:
	// 0042 phone active true
	// 0043 watch2 suspended false
}

// What goes back to the wallet app on the phone. Two of the three wallets need no input.
func ExampleAccountsService_ProvisionWallet() {
	srv := emulator()
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()
	id := seed(srv, "100.00")

	wallet, err := client.Accounts.ProvisionWallet(ctx, id, "googlepay", prepaid.ProvisionWalletParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(wallet.Provider, wallet.ProductType, wallet.IssuerInitiatedDigitizationData != "")
	fmt.Println(wallet.PANLastFour != "", wallet.Registration.EmailAddress != "") // neither shows in a log
	// Output:
	// mastercard reloadable true
	// true true
}

// The third wallet sends a nonce, its signature and certificates. A 404 may mean bad input here, so it is not
// ErrNotFound.
func ExampleAccountsService_ProvisionWallet_certificates() {
	srv := emulator()
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()
	id := seed(srv, "100.00")

	params := prepaid.ProvisionWalletParams{ // from the wallet app
		Nonce: "bm9uY2U=", NonceSignature: "c2lnbmF0dXJl", Certificates: []string{"bGVhZg==", "cm9vdA=="},
	}
	wallet, err := client.Accounts.ProvisionWallet(ctx, id, "applepay", params)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(wallet.ActivationData != "", wallet.EncryptedPassData != "", wallet.EphemeralPublicKey != "")

	_, err = client.Accounts.ProvisionWallet(ctx, id, "leatherwallet", params)
	fmt.Println(err, errors.Is(err, prepaid.ErrNotFound))
	// Output:
	// true true true
	// prepaid: Accounts.ProvisionWallet: rejected: status 404 (unsupported_provider): the wallet provider is not supported false
}

// The ephemeral key is 256 random bits and good for one call: after an unknown outcome make a new one.
func ExampleAccountsService_ExchangeKey() {
	srv := emulator()
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()
	id := seed(srv, "100.00")
	srv.AddApplication("11111111-2222-4333-8444-555555555555", "66666666-7777-4888-9999-aaaaaaaaaaaa")

	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		fmt.Println(err)
		return
	}
	params := prepaid.ExchangeKeyParams{
		ApplicationID: "11111111-2222-4333-8444-555555555555", KeyID: "66666666-7777-4888-9999-aaaaaaaaaaaa",
		EphemeralKey: prepaid.NewSecret(base64.StdEncoding.EncodeToString(key)),
	}
	exchanged, err := client.Accounts.ExchangeKey(ctx, id, params)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(exchanged.Data) > 0, params.EphemeralKey)

	_, err = client.Accounts.ExchangeKey(ctx, id, params)
	fmt.Println(errors.Is(err, prepaid.CodeBadEphemeralKey), err)
	// Output:
	// true [REDACTED]
	// true prepaid: Accounts.ExchangeKey: rejected: status 400 (bad_ephemeral_key): ephemeral_key was used before
}
