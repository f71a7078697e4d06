package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
)

// sealOnDevice is what the cardholder's device does: it turns one-time password and PIN into an envelope.
func sealOnDevice(certificate []byte, otp, pin string) (prepaid.PINEnvelope, error) {
	key, err := prepaid.NewPINKey(certificate, prepaid.PINKeyOptions{})
	if err != nil {
		return prepaid.PINEnvelope{}, err
	}
	envelope, err := key.Seal(prepaid.PINSecret{OTP: prepaid.NewSecret(otp), PIN: prepaid.NewSecret(pin)})
	if err != nil {
		return prepaid.PINEnvelope{}, err
	}
	return *envelope, nil
}

// Initiate has the service send the cardholder a one-time password. The reference does not show the answer's shape, so
// it comes as it is, to be read into a struct of your own.
func ExamplePINService_Initiate() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "0")

	started, err := client.PIN.Initiate(context.Background(), prepaid.InitiatePINParams{
		AccountID: id, DeviceID: "device-1", IPAddress: "203.0.113.7", CommunicationMethod: "sms",
	})
	if err != nil {
		fmt.Println(err, prepaid.OutcomeOf(err))
		return
	}
	var answer struct { // the operator tells the shape; this is the emulator's
		OperationID string `json:"operation_id"`
		Status      string `json:"status"`
	}
	if err := started.Decode(&answer); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(started.StatusCode, answer.Status, len(srv.OTP(answer.OperationID)), "digits sent")
	// Output: 200 initiated 6 digits sent
}

// Validate checks the one-time password before the PIN is set. Each try needs an envelope of its own.
func ExamplePINService_Validate() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "0")
	ctx := context.Background()

	started, err := client.PIN.Initiate(ctx, prepaid.InitiatePINParams{
		AccountID: id, DeviceID: "device-1", IPAddress: "203.0.113.7", CommunicationMethod: "sms",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var answer struct {
		OperationID string `json:"operation_id"`
	}
	if err := started.Decode(&answer); err != nil {
		fmt.Println(err)
		return
	}
	for _, otp := range []string{"wrong", srv.OTP(answer.OperationID)} {
		envelope, err := sealOnDevice(srv.PINCertificate(), otp, "4921")
		if err != nil {
			fmt.Println(err)
			return
		}
		_, err = client.PIN.Validate(ctx, prepaid.SealedPINParams{
			OperationID: answer.OperationID, DeviceID: "device-1", IPAddress: "203.0.113.7", Envelope: envelope,
		})
		fmt.Println(err)
	}
	fmt.Println("PIN set:", srv.PINOf(string(id)) != "")
	// Output:
	// prepaid: PIN.Validate: rejected: status 400 (invalid_otp): the one-time password is wrong
	// <nil>
	// PIN set: false
}

// Execute sets the PIN, once for an operation.
func ExamplePINService_Execute() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "0")
	ctx := context.Background()

	started, err := client.PIN.Initiate(ctx, prepaid.InitiatePINParams{
		AccountID: id, DeviceID: "device-1", IPAddress: "203.0.113.7", CommunicationMethod: "sms",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var answer struct {
		OperationID string `json:"operation_id"`
	}
	if err := started.Decode(&answer); err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		envelope, err := sealOnDevice(srv.PINCertificate(), srv.OTP(answer.OperationID), "4921")
		if err != nil {
			fmt.Println(err)
			return
		}
		_, err = client.PIN.Execute(ctx, prepaid.SealedPINParams{
			OperationID: answer.OperationID, DeviceID: "device-1", IPAddress: "203.0.113.7", Envelope: envelope,
		})
		fmt.Println(err, srv.PINOf(string(id)) == "4921")
	}
	// Output:
	// <nil> true
	// prepaid: PIN.Execute: rejected: status 400 (invalid_operation): operation_id is unknown, finished or expired true
}

// The certificate is checked when it is read, and the key says when it ends, so that a service can warn in time.
func ExampleNewPINKey() {
	srv := emulator()
	defer srv.Close()

	key, err := prepaid.NewPINKey(srv.PINCertificate(), prepaid.PINKeyOptions{Hash: prepaid.PINHashSHA512})
	if err != nil {
		fmt.Println(err)
		return
	}
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
