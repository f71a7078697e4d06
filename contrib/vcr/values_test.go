package prepaidvcr

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// All that the client reads in a recording, it reads in the replay.
func TestOddValuesCanBeReplayed(t *testing.T) {
	t.Parallel()
	const form = `{"account_id":"EA123456","external_account_id":"X1","company_id":%s,"balance":1.50,"plastic_expiry":"%s",` +
		`"status":"active","personal":{"first_name":"a","date_of_birth":"%s","primary_address":{"state":"NSW","country":"AU"%s}}}`
	const plain, born = "2030-01-01T00:00:00Z", "1980-01-01T00:00:00Z"
	for _, body := range []string{
		fmt.Sprintf(form, "1234567890123456789", plain, born, ""),
		fmt.Sprintf(form, `"1234567890123456789"`, plain, born, ""),
		fmt.Sprintf(form, "-7", "2030-01-01T00:00:00.1234567+10:00", "1980-01-01T00:00:00.0000000+10:00", ""),
		fmt.Sprintf(form, "42", "2030-01-01T00:00:00.123456789Z", "1980-01-01 00:00:00", ""),
		fmt.Sprintf(form, "42", "2030-01-01 00:00:00", "1980-01-01T00:00+10:00", ""),
		fmt.Sprintf(form, "42", "2030-01-01T00:00:00.1234567", "1980-01-01", ""),
		fmt.Sprintf(form, "42", plain, "1980-01-01T00:00:00+1000", `,"strange":2`),
		fmt.Sprintf(form, `42,"is_plastic_enabled":"TRUE"`, "20300101T000000Z", "19800101T000000Z", ""),
	} {
		path := filepath.Join(t.TempDir(), "values")
		recorder, err := New(path, Options{Mode: ModeRecord, Transport: answering(body), Scrub: []string{"strange"}})
		require.NoError(t, err)
		want, err := clientOn(t, recorder).Accounts.Get(t.Context(), "EA123456", prepaid.IncludeCardholder)
		require.NoError(t, err, body)
		require.NoError(t, recorder.Stop(), body)
		player, err := New(path, Options{})
		require.NoError(t, err, body)
		got, err := clientOn(t, player).Accounts.Get(t.Context(), "EA123456", prepaid.IncludeCardholder)
		require.NoError(t, err, body)
		require.Equal(t, want.PlasticExpiry.Truncate(time.Microsecond), got.PlasticExpiry, "times stay, to the microsecond")
		require.NotEqual(t, want.Cardholder.DateOfBirth, got.Cardholder.DateOfBirth)
		require.Less(t, got.Cardholder.DateOfBirth.Year, 1920)
		require.NotEqual(t, want.CompanyID, got.CompanyID)
		require.Equal(t, want.PlasticEnabled, got.PlasticEnabled)
		require.NoError(t, player.Stop())
	}
}

// Very deep JSON is not accepted: it would grow with the square of its depth.
func TestDeepJSON(t *testing.T) {
	t.Parallel()
	for depth, deep := range map[int]bool{100: false, 101: true, 9000: true} {
		work := scrubber{names: newPseudonyms()}
		body := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		text := work.body("body", []byte(body), scrubbed(), bodyJSON)
		require.Equal(t, deep, namePseudonym.MatchString(text), depth)
	}
}

// The scrubbed size of a body is bounded as well, and so is a request.
func TestBodiesThatAreTooLong(t *testing.T) {
	t.Parallel()
	const depth = 90 // of lists, each of which has its own indented line
	lists := strings.Repeat("[", depth) + strings.Repeat("[],", 1<<16) + "[]" + strings.Repeat("]", depth)
	for rule, body := range map[string]string{
		"a scrubbed body is longer": "{}", "a request is longer": strings.Repeat("x", maxRecorded+1),
	} {
		path := filepath.Join(t.TempDir(), "long")
		recorder, err := New(path, Options{Mode: ModeRecord, Transport: answering(lists)})
		require.NoError(t, err)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://cards.invalid/3.0/hooks", strings.NewReader(body))
		require.NoError(t, err)
		response, err := recorder.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		err = recorder.Stop()
		require.ErrorContains(t, err, rule)
		require.ErrorContains(t, err, path)
		require.NoFileExists(t, path+extension)
	}
}

// A gateway's path contains the version, and an id looks like it.
func TestVersionTwiceInThePath(t *testing.T) {
	t.Parallel()
	known := newSchema()
	for path, want := range map[string]string{
		"/3.0/accounts/EA7": "Accounts.Get", "/3.0/cards/3.0/accounts/EA7": "Accounts.Get", "/3.0/accounts/3.0/status": "Accounts.Summary",
		"/accounts/EA7": "Accounts.Get", "/3.0/3.0/nothing": "an unknown operation",
	} {
		require.Equal(t, want, known.request(newPseudonyms(), http.MethodGet, &url.URL{Path: path}, nil).name(), path)
	}
}

// A code is kept if the client lists it or it has several words; one word may be a name.
func TestErrorCodesThatStay(t *testing.T) {
	t.Parallel()
	for code, kept := range map[string]bool{
		"unauthorized": true, "account_not_found": true, "mira": false, "Mira_Smith": false, "_": false, "a_": false,
		strings.Repeat("ab_", 30) + "c": false,
	} {
		require.Equal(t, kept, isErrorCode(code), code)
	}
}

// Spaces and a byte order mark do not change a report's header; names of networks are kept.
func TestHeadersOfReports(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"cardholder,amount", "\ufeffcardholder,amount", "cardholder , amount", "\ufeff\"Cardholder\",AMOUNT "} {
		work := scrubber{names: newPseudonyms(), columns: columns{names: []string{"cardholder", "amount"}}}
		require.Equal(t, header+"\nanon1,990000274.00\n", work.table("body.reportdata", header+"\nMira,5.00\n", 0))
	}
	body, _ := newSchema().response(&scrubber{names: newPseudonyms()}, operationNamed(t, "Accounts.ProvisionWallet"), http.StatusOK,
		[]byte(`{"provider":"mastercard"}`))
	require.Contains(t, body, `"mastercard"`)
}

func operationNamed(t *testing.T, name string) *operation {
	t.Helper()
	for _, op := range newSchema().operations {
		if op.name == name {
			return &op
		}
	}
	require.Fail(t, "no such operation", name)
	return nil
}
