package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// sealOnDevice runs on the cardholder's device: it seals the one-time password and the PIN in an envelope.
func sealOnDevice(certificate []byte, otp, pin string) (*prepaid.PINEnvelope, error) {
	key, err := prepaid.NewPINKey(certificate, prepaid.PINKeyOptions{})
	if err != nil {
		return nil, err
	}
	return key.Seal(prepaid.PINSecret{OTP: prepaid.NewSecret(otp), PIN: prepaid.NewSecret(pin)})
}

// Initiate makes the service send the cardholder a one-time password. The reference does not specify the response, so
// decode it into your own struct.
func ExamplePINService_Initiate() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "0")

	started, err := client.PIN.Initiate(context.Background(), prepaid.InitiatePINParams{
		AccountID: id, DeviceID: "device-1", IPAddress: "203.0.113.7", CommunicationMethod: "sms",
	})
	if err != nil {
		fmt.Println(err, prepaid.OutcomeOf(err))
		return
	}
	var response struct { // the operator specifies the format; this is the emulator's
		OperationID string `json:"operation_id"`
		Status      string `json:"status"`
	}
	check(started.Decode(&response))
	fmt.Println(started.StatusCode, response.Status, len(srv.OTP(response.OperationID)), "digits sent")
	// Output: 200 initiated 6 digits sent
}

// initiated starts an operation as ExamplePINService_Initiate does, and returns its ID.
func initiated(client *prepaid.Client, id prepaid.AccountID) string {
	started, err := client.PIN.Initiate(context.Background(), prepaid.InitiatePINParams{
		AccountID: id, DeviceID: "device-1", IPAddress: "203.0.113.7", CommunicationMethod: "sms",
	})
	check(err)
	var response struct {
		OperationID string `json:"operation_id"`
	}
	check(started.Decode(&response))
	return response.OperationID
}

// Execute sets the PIN, once per operation.
func ExamplePINService_Execute() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "0")
	operation := initiated(client, id)
	for range 2 {
		envelope, err := sealOnDevice(srv.PINCertificate(), srv.OTP(operation), "4921")
		check(err)
		_, err = client.PIN.Execute(context.Background(), prepaid.SealedPINParams{
			OperationID: operation, DeviceID: "device-1", IPAddress: "203.0.113.7", Envelope: envelope,
		})
		fmt.Println(err, srv.PINOf(id) == "4921")
	}
	// Output:
	// <nil> true
	// prepaid: PIN.Execute: rejected: status 400 (invalid_operation): operation_id is unknown, finished or expired true
}

// NewPINKey checks the certificate. NotAfter returns when it expires, so that you can warn in time.
func ExampleNewPINKey() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()

	key, err := prepaid.NewPINKey(srv.PINCertificate(), prepaid.PINKeyOptions{Hash: prepaid.PINHashSHA512})
	check(err)
	if time.Until(key.NotAfter()) < 30*24*time.Hour {
		fmt.Println("ask the operator for a new certificate")
	}
	fmt.Println(len(key.Fingerprint()))

	_, err = prepaid.NewPINKey([]byte("not a certificate"), prepaid.PINKeyOptions{Hash: "MD5"})
	if invalid, ok := errors.AsType[*prepaid.ValidationError](err); ok {
		for _, fault := range invalid.Faults {
			fmt.Println(fault.Field, fault.Rule)
		}
	}
	// Output:
	// 64
	// certificate must be an X.509 certificate in PEM or DER form that crypto/x509 can read
	// hash must be SHA256 or SHA512
}

// The envelope is sealed where the PIN is typed, without a client: no backend sees the PIN.
func ExamplePINKey_Seal() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()

	key, err := prepaid.NewPINKey(srv.PINCertificate(), prepaid.PINKeyOptions{})
	check(err)
	envelope, err := key.Seal(prepaid.PINSecret{OTP: prepaid.NewSecret("123456"), PIN: prepaid.NewSecret("4921")})
	check(err)
	fmt.Println(envelope.OAEPHashingAlgorithm, len(envelope.IV), envelope.PublicKeyFingerprint == key.Fingerprint())
	// Output: SHA256 32 true
}

// changePIN runs in the backend. seal reaches the cardholder's device, where the one-time password arrives and the PIN is
// typed; it is called for each step, since an envelope is used once.
func changePIN(ctx context.Context, client *prepaid.Client, session prepaid.InitiatePINParams, seal func(operation string) (*prepaid.PINEnvelope, error)) error {
	started, err := client.PIN.Initiate(ctx, session)
	if err != nil {
		return err
	}
	var response struct { // the reference does not show it: ask the operator; this is the emulator's
		OperationID string `json:"operation_id"`
	}
	if err := started.Decode(&response); err != nil {
		return err
	}
	for _, step := range []func(context.Context, prepaid.SealedPINParams) (*prepaid.RawResponse, error){client.PIN.Validate, client.PIN.Execute} {
		envelope, err := seal(response.OperationID)
		if err != nil {
			return err
		}
		if _, err := step(ctx, prepaid.SealedPINParams{
			OperationID: response.OperationID, DeviceID: session.DeviceID, IPAddress: session.IPAddress, Envelope: envelope,
		}); err != nil {
			return err // after an unknown outcome of Execute the cardholder tries the card
		}
	}
	return nil
}

// A complete PIN change: the backend relays envelopes that it cannot read.
func ExamplePINService() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	id := seed(srv, "0")

	session := prepaid.InitiatePINParams{
		AccountID: id, DeviceID: "device-1", IPAddress: "203.0.113.7",
		CommunicationMethod: "sms", // the operator specifies the values
	}
	err := changePIN(context.Background(), srv.Client(), session, func(operation string) (*prepaid.PINEnvelope, error) {
		return sealOnDevice(srv.PINCertificate(), srv.OTP(operation), "4921")
	})
	fmt.Println(err, srv.PINOf(id) == "4921")
	// Output: <nil> true
}

// The third wallet sends a nonce, its signature and certificates. A 404 may mean bad input here, so it is not
// ErrNotFound.
func ExampleAccountsService_ProvisionWallet_certificates() {
	srv, client, ctx := service()
	defer srv.Close()
	id := seed(srv, "100.00")

	params := prepaid.ProvisionWalletParams{ // from the wallet app
		Nonce: "bm9uY2U=", NonceSignature: "c2lnbmF0dXJl", Certificates: []string{"bGVhZg==", "cm9vdA=="},
	}
	wallet, err := client.Accounts.ProvisionWallet(ctx, id, "applepay", params)
	check(err)
	fmt.Println(wallet.ActivationData != "", wallet.EncryptedPassData != "", wallet.EphemeralPublicKey != "")

	_, err = client.Accounts.ProvisionWallet(ctx, id, "leatherwallet", params)
	fmt.Println(err, errors.Is(err, prepaid.ErrNotFound))
	// Output:
	// true true true
	// prepaid: Accounts.ProvisionWallet: rejected: status 404 (unsupported_provider): the wallet provider is not supported false
}

// The ephemeral key is 256 random bits for one call: after an unknown outcome make a new one.
func ExampleAccountsService_ExchangeKey() {
	srv, client, ctx := service()
	defer srv.Close()
	id := seed(srv, "100.00")
	srv.AddApplication("11111111-2222-4333-8444-555555555555", "66666666-7777-4888-9999-aaaaaaaaaaaa")

	params := prepaid.ExchangeKeyParams{
		ApplicationID: "11111111-2222-4333-8444-555555555555", KeyID: "66666666-7777-4888-9999-aaaaaaaaaaaa",
		EphemeralKey: prepaid.NewEphemeralKey(),
	}
	exchanged, err := client.Accounts.ExchangeKey(ctx, id, params)
	check(err)
	fmt.Println(len(exchanged.Body) > 0, len(params.EphemeralKey.Bytes()), params.EphemeralKey)

	_, err = client.Accounts.ExchangeKey(ctx, id, params)
	fmt.Println(errors.Is(err, prepaid.CodeBadEphemeralKey), err)
	// Output:
	// true 32 [REDACTED]
	// true prepaid: Accounts.ExchangeKey: rejected: status 400 (bad_ephemeral_key): ephemeral_key was used before
}
