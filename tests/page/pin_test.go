package page

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// pinPage is a web app with the code of docs/pin.md in place of {code}.
const pinPage = `<!doctype html><title>PIN</title><link rel="icon" href="data:,">
<form><input id="otp" autocomplete="one-time-code"><input id="pin" type="password" autocomplete="new-password"><button>Change</button></form><p></p>
<script type="module">
{code}
const said = document.querySelector("p"), certificate = await (await fetch("/certificate.pem")).text();
document.querySelector("form").onsubmit = async (event) => {
	event.preventDefault();
	said.textContent = await changePIN(certificate, otp.value, pin.value).then(() => "changed", (error) => "failed: " + error.message);
};
said.textContent = "ready";
</script>`

// aPINIsSealedInThePage changes a PIN through a backend that only forwards what the page has sealed.
func aPINIsSealedInThePage(b *browser) {
	srv := prepaidtest.NewServer(b.t, prepaidtest.Options{})
	client := srv.Client()
	params := prepaid.InitiatePINParams{
		AccountID: srv.AddAccount(prepaidtest.SeedAccount{}), DeviceID: "device-1", IPAddress: "203.0.113.7", CommunicationMethod: "sms",
	}
	_, err := client.PIN.Initiate(b.t.Context(), params)
	require.NoError(b.t, err)
	change := srv.PINChanges(params.AccountID)[0]
	document, err := os.ReadFile("../../docs/pin.md")
	require.NoError(b.t, err)
	code := regexp.MustCompile("(?s)```js\n(.*?)```").FindSubmatch(document)
	require.Len(b.t, code, 2)

	app := http.NewServeMux()
	app.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Replace(pinPage, "{code}", string(code[1]), 1)))
	})
	app.HandleFunc("GET /pin.mjs", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "../../docs/pin.mjs") })
	app.HandleFunc("GET /certificate.pem", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(srv.PINCertificate()) })
	app.HandleFunc("POST /pin/{step}", func(w http.ResponseWriter, r *http.Request) {
		step := client.PIN.Validate
		if r.PathValue("step") == "execute" {
			step = client.PIN.Execute
		}
		sealed := prepaid.SealedPINParams{OperationID: change.OperationID, DeviceID: params.DeviceID, IPAddress: params.IPAddress}
		err := json.NewDecoder(r.Body).Decode(&sealed.Envelope)
		if err == nil {
			_, err = step(r.Context(), sealed)
		}
		if err == nil {
			return
		}
		http.Error(w, "start again with a new password", http.StatusUnprocessableEntity)
	})
	server := httptest.NewServer(app)
	defer server.Close()

	b.visit(server.URL)
	b.shows("p", "ready")
	b.enter("#otp", "wrong")
	b.enter("#pin", "0042")
	b.click("button")
	b.shows("p", "failed: start again")
	require.Empty(b.t, srv.PINOf(params.AccountID))
	b.enter("#otp", change.OTP)
	b.click("button")
	b.shows("p", "changed")
	require.Equal(b.t, "0042", srv.PINOf(params.AccountID))
	b.onlyRefused()
}
