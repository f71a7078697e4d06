package prepaidvcr_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// open returns a recorder and a client on it.
func open(t *testing.T, path string, options prepaidvcr.Options, config prepaid.Config) (*prepaidvcr.Recorder, *prepaid.Client) {
	t.Helper()
	recorder, err := prepaidvcr.New(path, options)
	require.NoError(t, err)
	client, err := prepaid.NewClient(recorder.Config(config))
	require.NoError(t, err)
	return recorder, client
}

// record records calls and returns the path of the cassette and its content.
func record(t *testing.T, config prepaid.Config, options prepaidvcr.Options, calls func(c *prepaid.Client)) (path, content string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "made", "cassette")
	options.Mode = prepaidvcr.ModeRecord
	config.ShowDescriptions = false // which are not kept
	recorder, client := open(t, path, options, config)
	require.True(t, recorder.Recording())
	calls(client)
	require.NoError(t, client.Close())
	require.NoError(t, recorder.Stop())
	require.NoError(t, recorder.Stop(), "a second call does nothing")
	written, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	return path, string(written)
}

// replay opens a cassette and returns a client on it, without any configuration of the recording.
func replay(t *testing.T, path string, options prepaidvcr.Options) (*prepaidvcr.Recorder, *prepaid.Client) {
	t.Helper()
	recorder, client := open(t, path+".yaml", options, prepaid.Config{
		BaseURL: "https://gateway.example.org/cards/3.0/", Vendor: "somebody", TestEnvironment: true,
		ClientID: "x", ClientSecret: prepaid.NewSecret("y"),
	})
	require.False(t, recorder.Recording())
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return recorder, client
}

// requireMissing returns the error of a request that is not in the cassette. It must not contain a value.
func requireMissing(t *testing.T, err error, value string) *prepaidvcr.UnrecordedError {
	t.Helper()
	missing, ok := errors.AsType[*prepaidvcr.UnrecordedError](err)
	require.True(t, ok, "%v", err)
	require.NotContains(t, missing.Error(), value)
	return missing
}

func account(srv *prepaidtest.Server, balance string) prepaid.AccountID {
	return srv.AddAccount(prepaidtest.SeedAccount{Balance: balance})
}

func transfer(t *testing.T, c *prepaid.Client, id prepaid.RequestID, from, to prepaid.AccountID) error {
	t.Helper()
	_, err := c.Accounts.Transfer(t.Context(), from, prepaid.TransferParams{
		RequestID: id, Amount: prepaid.MustAmount("5.00"), DestinationAccountID: to, SourceReference: "a", DestinationReference: "b",
	})
	return err
}

// roundTripper is a transport that a test writes.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// responding returns a configuration whose service returns a token, and a body by the last word of the path.
func responding(bodies map[string]string) prepaid.Config {
	service := func(req *http.Request) (*http.Response, error) {
		if req.Body != nil {
			_, _ = io.Copy(io.Discard, req.Body)
		}
		body := `{"access_token":"t","token_type":"bearer","expires_in":3600,"scope":"Leaked"}`
		if !strings.HasSuffix(req.URL.Path, "/token") {
			body = bodies[req.URL.Path[strings.LastIndexByte(req.URL.Path, '/')+1:]]
		}
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}, "Set-Cookie": {"Leaked"}}, Request: req,
			Body: io.NopCloser(strings.NewReader(body)),
		}, nil
	}
	return prepaid.Config{
		BaseURL: "https://cards.invalid/3.0/", Vendor: "vendor", TestEnvironment: true, ClientID: "x", ClientSecret: prepaid.NewSecret("y"),
		Transport: roundTripper(service),
	}
}
