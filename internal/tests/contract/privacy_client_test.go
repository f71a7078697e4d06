package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// partner is a caller's own struct, as it may be printed by mistake.
type partner struct {
	Client   *prepaid.Client
	config   prepaid.Config
	client   *prepaid.Client
	accounts *prepaid.AccountsService
	list     []prepaid.Config
	settings map[string]prepaid.Config
}

// A client that holds a secret and a token, its services and its configuration show neither, however they are printed.
func TestCanaryClient(t *testing.T) {
	t.Parallel()
	var w canaryWatch
	config := canaryConfig(&w, fixedResponse(200, "application/json", `{"account_id":"eaid","company_id":7,"balance":1,"status":"active","card_number":%s}`), false)
	client := harness.NewClient(t, config)
	token, err := client.Token(t.Context())
	require.NoError(t, err)
	require.Equal(t, canaryOf("Token", "Access"), token.AccessToken)
	account, err := client.Accounts.Get(t.Context(), "eaid")
	require.NoError(t, err)
	require.NotEmpty(t, canariesIn(account.CardNumber), "the response was read")
	require.Equal(t, canaryOf("Config", "ClientSecret"), config.ClientSecret.Reveal())

	derived, err := client.With(prepaid.Overrides{AttemptTimeout: time.Minute})
	require.NoError(t, err)
	own := partner{client, config, client, client.Accounts, []prepaid.Config{config}, map[string]prepaid.Config{"a": config}}
	for name, value := range map[string]any{
		"client": client, "derived": derived, "zero": &prepaid.Client{}, "config": config, "config pointer": &config, "secret": config.ClientSecret, "partner": own, "partner pointer": &own,
		"accounts": client.Accounts, "policy": client.Policy, "reporting": client.Reporting, "funding": client.Funding,
		"simulation": client.Simulation, "PIN": client.PIN, "hooks": client.Hooks, "account": account,
	} {
		var log bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&log, verb, value)
		}
		logAll(slog.New(slog.NewTextHandler(&log, nil)), value)
		logAll(slog.New(slog.NewJSONHandler(&log, nil)), value)
		if name != "account" { // in JSON an account is whole, by design
			asJSON, err := json.Marshal(value)
			fmt.Fprintln(&log, string(asJSON), err)
		}
		requireNothingSeen(t, name, log.String())
	}
	requireNothingSeen(t, "log and trace", w.take())

	asJSON, err := json.Marshal(config)
	require.NoError(t, err)
	require.Contains(t, string(asJSON), `"client_secret":"[REDACTED]"`)
	var back prepaid.Config
	require.ErrorIs(t, json.Unmarshal(asJSON, &back), prepaid.ErrSyntax, "a dumped configuration cannot be loaded by mistake")
}

// A refusal shows nothing either: each text of a request breaks a limit here.
func TestCanaryValidation(t *testing.T) {
	t.Parallel()
	params := canaryCreate()
	params.DisplayName += harness.WideText(100)
	params.NameOnCard = canaryOf("Sent", "NameOnCard")
	params.ClientAccountKey = canaryOf("Sent", "Key") + "é"
	params.MDESConfigID = canaryOf("Sent", "MDES")
	params.Cardholder.FirstName += harness.WideText(50)
	params.Cardholder.EmailAddress += " "
	params.Cardholder.PrimaryAddress.Postcode += " "
	params.Cardholder.PrimaryAddress.Country = canaryOf("Sent", "Country")
	params.Cardholder.Sex = prepaid.Sex(canaryOf("Sent", "Sex"))
	params.Cardholder.Passport.Expiry = canaryDate
	payment := harness.ValidDirectEntry()
	payment.Destination = prepaid.BankAccount{BSB: canaryNumber, AccountNumber: canaryNumber + "x", AccountName: ""}
	hook := harness.ValidHook()
	hook.URI, hook.HMACKeySecret = "http://"+canaryOf("Sent", "URI"), prepaid.NewSecret(canaryHMAC+"0")
	key := harness.ValidExchangeKey()
	key.KeyID = canaryOf("Sent", "Key")
	var w canaryWatch
	config := canaryConfig(&w, fixedResponse(400, "", ""), false)
	client := harness.NewClient(t, config)
	for name, call := range map[string]func() error{
		"create": func() error { _, err := client.Accounts.Create(t.Context(), params); return err },
		"issue": func() error {
			_, err := client.Accounts.Issue(t.Context(), prepaid.IssueParams{Account: params})
			return err
		},
		"direct entry": func() error { _, err := client.Accounts.DirectEntryOut(t.Context(), "eaid", payment); return err },
		"hook":         func() error { _, err := client.Hooks.Create(t.Context(), hook); return err },
		"exchange":     func() error { _, err := client.Accounts.ExchangeKey(t.Context(), "eaid", key); return err },
		"path": func() error {
			_, err := client.Reporting.Run(t.Context(), "../"+canaryOf("Path", "Template"), prepaid.RunReportParams{})
			return err
		},
		"raw": func() error {
			r := canaryRaw()
			r.Method, r.Path = canaryOf("Raw", "Method"), "/limits/"+canaryOf("Raw", "Path")+"9"
			return client.Do(t.Context(), r, nil)
		},
		"raw value": func() error {
			r := canaryRaw()
			r.PathValues["id"] += "/"
			r.PathValues[canaryOf("Raw", "Name")] = "1"
			r.Query.Set(canaryOf("Query", "Raw"), "\xff")
			r.Body = canaryOf("Sent", "Raw")
			return client.Do(t.Context(), r, canaryOf("Raw", "Out"))
		},
		"raw body": func() error {
			r := canaryRaw()
			r.Body = map[string]string{canaryOf("Sent", "Member"): canaryOf("Sent", "Raw") + "\xff"}
			return client.Do(t.Context(), r, nil)
		},
		"raw known": func() error {
			r := canaryRaw()
			r.Path = "/accounts/{id}/transfer"
			return client.Do(t.Context(), r, nil)
		},
		"config": func() error {
			config.BaseURL = "https://user:" + canaryOf("Config", "BaseURL") + "@h.example/"
			config.Vendor, config.UserAgent = canaryOf("Config", "Vendor")+"/", canaryOf("Config", "Agent")+"\n"
			config.ClientSecret = prepaid.NewSecret(canaryOf("Config", "ClientSecret") + "\xff")
			_, err := prepaid.NewClient(config)
			return err
		},
	} {
		err := call()
		_, refused := errors.AsType[*prepaid.ValidationError](err)
		require.True(t, refused, name)
		requireQuietError(t, name, err)
	}
	requireNothingSeen(t, "log and trace", w.take())
}

// Reading data that others sent, without a call: a message, a response of the PIN operations, an error in a caller's struct.
func TestCanaryDecodeErrors(t *testing.T) {
	t.Parallel()
	text := canaryOf("Message", "Raw")
	for _, body := range []string{
		text, `"` + text + `"`, `{"id":{"` + text + `":1}}`, `{"id":"` + text, `{"timestamp":"` + text + `"}`, `{"timestamp":998877665544}`,
		`{"type":["` + text + `"]}`, `{"hook_id":` + canaryNumber + `}`, `[` + text, `{"` + text + `"`, "\x00" + text, "",
	} {
		var message prepaid.Message
		requireQuietError(t, "Message.UnmarshalJSON", message.UnmarshalJSON([]byte(body)))
		var device prepaid.WalletDevice
		requireQuietError(t, "WalletDevice.UnmarshalJSON", device.UnmarshalJSON([]byte(strings.Replace(body, `"id"`, `"device_id"`, 1))))
		var own struct {
			ID int `json:"id"`
		}
		requireQuietError(t, "Message.Decode", (&prepaid.Message{Raw: []byte(body)}).Decode(&own))
		requireQuietError(t, "Response.Decode", (&prepaid.Response{Body: []byte(body)}).Decode(&own))
	}
}
