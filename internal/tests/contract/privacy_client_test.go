package contract

import (
	"bytes"
	"encoding/json"
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
		requireQuietError(t, "Response.Decode", (&prepaid.RawResponse{Body: []byte(body)}).Decode(&own))
	}
}
