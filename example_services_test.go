package prepaid_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/webhook"
)

// In an open loop an added category is blocked; in a closed one it is allowed.
func ExamplePolicyService_ChangeCategories() {
	srv := emulator()
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()

	err := client.Policy.ChangeCategories(ctx, 42, prepaid.ChangeCategoriesParams{
		Reason: "no gambling", Add: []prepaid.MCC{"7995", "0742"}, Remove: []prepaid.MCC{"0742"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	policy, err := client.Policy.Categories(ctx, 42)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(policy.DefaultAction, policy.Categories)
	// Output: allow [{7995}]
}

// A report of any size goes to a file in constant memory, and the file gets its name only when it is complete.
func ExampleReportingService_Run() {
	srv := emulator()
	defer srv.Close()
	client := srv.Client()
	srv.AddReportCSV("balances", "account,balance\nEA1,25.50\nEA2,0.00\n")
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()

	fetch := func(ctx context.Context, path string) error {
		report, err := client.Reporting.Run(ctx, "balances", prepaid.RunReportParams{
			IncludeColumnHeaders: true,
			WaitForPrevious:      true,
			OnStart:              func(run prepaid.ReportRun) error { fmt.Println("started", run.Template); return nil },
		})
		if err != nil {
			return err
		}
		defer report.Close()
		file, err := os.Create(path + ".part")
		if err != nil {
			return err
		}
		defer file.Close()
		if _, err := io.Copy(file, report); err != nil { // EOF only after the rows were counted
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
		return os.Rename(path+".part", path)
	}
	path := filepath.Join(folder, "balances.csv")
	if err := fetch(context.Background(), path); err != nil {
		fmt.Println(err)
		return
	}
	text, err := os.ReadFile(path)
	fmt.Print(string(text), err)
	// Output:
	// started balances
	// account,balance
	// EA1,25.50
	// EA2,0.00
	// <nil>
}

// The envelope is sealed where the PIN is typed, without a client: no backend sees the PIN.
func ExamplePINKey_Seal() {
	srv := emulator()
	defer srv.Close()

	key, err := prepaid.NewPINKey(srv.PINCertificate(), prepaid.PINKeyOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	envelope, err := key.Seal(prepaid.PINSecret{OTP: prepaid.NewSecret("123456"), PIN: prepaid.NewSecret("4921")})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(envelope.OAEPHashingAlgorithm, len(envelope.IV), envelope.PublicKeyFingerprint == key.Fingerprint())
	// Output: SHA256 32 true
}

// A whole PIN change. Each step gets an envelope of its own.
func ExamplePINService() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "0")

	change := func(ctx context.Context, seal func(operation string) (*prepaid.PINEnvelope, error)) error {
		started, err := client.PIN.Initiate(ctx, prepaid.InitiatePINParams{
			AccountID: id, DeviceID: "device-1", IPAddress: "203.0.113.7",
			CommunicationMethod: "sms", // the operator tells the values
		})
		if err != nil {
			return err
		}
		var answer struct { // the operator tells the shape
			OperationID string `json:"operation_id"`
		}
		if err := started.Decode(&answer); err != nil {
			return err
		}
		for _, step := range []func(context.Context, prepaid.SealedPINParams) (*prepaid.PINResponse, error){client.PIN.Validate, client.PIN.Execute} {
			envelope, err := seal(answer.OperationID)
			if err != nil {
				return err
			}
			if _, err := step(ctx, prepaid.SealedPINParams{
				OperationID: answer.OperationID, DeviceID: "device-1", IPAddress: "203.0.113.7", Envelope: *envelope,
			}); err != nil {
				return err
			}
		}
		return nil
	}
	err := change(context.Background(), func(operation string) (*prepaid.PINEnvelope, error) { // on the cardholder's device
		key, err := prepaid.NewPINKey(srv.PINCertificate(), prepaid.PINKeyOptions{})
		if err != nil {
			return nil, err
		}
		return key.Seal(prepaid.PINSecret{OTP: prepaid.NewSecret(srv.OTP(operation)), PIN: prepaid.NewSecret("4921")})
	})
	fmt.Println(err, srv.PINOf(string(id)) == "4921")
	// Output: <nil> true
}

// Registering an enabled hook has the service ping the receiver, which must be listening by then.
func ExampleHooksService_Create() {
	key := prepaid.NewSecret(strings.Repeat("0f", 32))
	handler, err := webhook.NewHandler(webhook.Config{
		Verifier: webhook.HMAC{ // the operator tells header, encoding and key form
			Header: "X-Signature", Encoding: webhook.EncodingHex, KeyForm: webhook.KeyDecoded, Keys: webhook.StaticKeys{"k1": key},
		},
		OnTransaction: func(_ context.Context, m *prepaid.Message) error {
			fmt.Println("received", m.Type)
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	receiver := httptest.NewTLSServer(handler)
	defer receiver.Close()
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	srv := emulator(prepaidtest.WithWebhookRoots(roots))
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()

	created, err := client.Hooks.Create(ctx, prepaid.CreateHookParams{
		URI: receiver.URL, Scope: []prepaid.CompanyID{42}, FilterSpec: prepaid.FilterAll, Enabled: true,
		ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: "k1", HMACKeySecret: key,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("registered", created.ID != "")
	seed(srv, "25.50") // a load, which the hook is told of
	fmt.Println(srv.WaitIdle(ctx))
	// Output:
	// registered true
	// received transaction
	// <nil>
}
