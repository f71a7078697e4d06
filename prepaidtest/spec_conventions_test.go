package prepaidtest

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
)

func TestSpec_1_MediaTypeOfRequests(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	id := c.AddAccount(SeedAccount{})
	send := func(media string) reply {
		header := c.header("")
		if media != "" {
			header.Set("Content-Type", media)
		}
		return c.send("PUT", "accounts/"+id+"/status", `{"status":"active"}`, header)
	}
	send(vendorJSON).empty(200)
	for _, media := range []string{"", "application/json", "application/json; charset=utf-8", "text/plain", vendorJSON + "; charset=utf-8", "application/vnd.other+json"} {
		require.Contains(t, send(media).refused(400, "invalid_request"), "Content-Type")
	}
}

func TestSpec_1_VendorIsASetting(t *testing.T) {
	t.Parallel()
	c := startWithoutToken(t, Options{Vendor: "AcMe"})
	const media = "application/vnd.AcMe+json"
	token := c.send("GET", "policy/42/policy", "", http.Header{"Authorization": {"Bearer x"}})
	require.Equal(t, 401, token.status)
	require.Equal(t, media, token.header.Get("Content-Type"))
	require.NoError(t, c.Client().Accounts.SetStatus(t.Context(), prepaid.AccountID(c.AddAccount(SeedAccount{})),
		prepaid.SetStatusParams{Status: prepaid.AccountStatusClosed}), "an operation with a body")
}

// pagedOperations lists each paged operation over a set of seven.
func pagedOperations(t *testing.T, c *caller) []string {
	t.Helper()
	for range 7 {
		c.AddAccount(SeedAccount{Key: "seven"})
		c.addHook(hookText(t, "https://partner.example/", map[string]any{"enabled": false}))
	}
	id := c.AddAccount(SeedAccount{CompanyID: c.emptyCompany(8)})
	for range 7 {
		c.Adjust(id, "1")
	}
	return []string{"accounts?client_id=acme&client_account_key=seven&", "accounts/company/42?", "accounts/" + id + "/transactions?", "hooks?"}
}

func (c *caller) emptyCompany(id prepaid.CompanyID) prepaid.CompanyID {
	c.AddCompany(Company{ID: id, ClientID: "company-" + id.String()})
	return id
}

func TestSpec_1_PagingOfEachOperation(t *testing.T) {
	t.Parallel()
	c := start(t, Options{Kind: true, PageSizes: PageSizes{Least: 2, Normal: 3, Most: 4}})
	for _, path := range pagedOperations(t, c) {
		for _, test := range []struct {
			query       string
			count       int
			size, pages string
		}{
			{"", 3, "3", "3"}, {"page_number=1", 3, "3", "3"}, {"page_number=3", 1, "3", "3"}, {"page_size=1", 2, "2", "4"},
			{"page_size=0", 2, "2", "4"}, {"page_size=2", 2, "2", "4"}, {"page_size=4", 4, "4", "2"}, {"page_size=5", 4, "4", "2"},
			{"page_size=2147483647", 4, "4", "2"},
			{"page_size=-1", 2, "2", "4"}, {"page_size=-99999999999999999999", 2, "2", "4"}, {"page_size=99999999999999999999", 4, "4", "2"}, {"page_number=2&page_size=4", 3, "4", "2"},
		} {
			got := c.get(path + test.query).ok()
			require.Len(t, got.list(), test.count, path+test.query)
			require.Equal(t, []string{test.size}, got.header["X-Pagesize"], path+test.query)
			require.Equal(t, test.pages, got.header.Get("X-TotalPages"), path+test.query)
			require.Equal(t, "7", got.header.Get("X-TotalItems"), path+test.query)
		}
		for _, bad := range []string{
			"page_number=0", "page_number=4", "page_number=-1", "page_number=%2B1", "page_number=x", "page_number=", "page_number=1.0",
			"page_number=99999999999999999999", "page_number=-99999999999999999999", "page_size=x", "page_size=", "page_size=-", "page_size=1.0", "page_size=--1",
		} {
			require.Contains(t, c.get(path+bad).refused(400, "invalid_request"), "page_", path+bad)
		}
	}
}

func TestSpec_1_AnEmptySetIs204WithTheHeaders(t *testing.T) {
	t.Parallel()
	c := start(t, Options{Kind: true})
	id := c.AddAccount(SeedAccount{CompanyID: c.emptyCompany(8)})
	for _, path := range []string{"accounts?client_id=acme&client_account_key=x&", "accounts/company/42?", "accounts/" + id + "/transactions?", "hooks?"} {
		for _, query := range []string{"", "page_number=5", "page_size=7"} {
			got := c.get(path + query)
			got.empty(204)
			require.Equal(t, "0", got.header.Get("X-TotalPages"), path)
			require.Equal(t, "0", got.header.Get("X-TotalItems"), path)
		}
	}
}

func TestSpec_8_PageSizesAreASetting(t *testing.T) {
	t.Parallel()
	size := func(c *caller, query string) string {
		return c.get("policy/mccodes" + query).ok().header.Get("X-PageSize")
	}
	c := start(t, Options{})
	require.Equal(t, []string{"50", "1", "1", "500", "500"},
		[]string{size(c, ""), size(c, "?page_size=0"), size(c, "?page_size=1"), size(c, "?page_size=500"), size(c, "?page_size=501")})
}

// Every error status of the reference has the shape of section 7: refused checks media type, code and members.
func TestSpec_7_ErrorShapeOfEachStatus(t *testing.T) {
	t.Parallel()
	c := start(t, Options{PermittedCompanies: []prepaid.CompanyID{}, RateLimit: 10, RateWindow: 1 << 40, ReportDelay: time.Hour})
	c.post("funding/redemptions", `{}`).refused(400, "invalid_request")
	c.send("GET", "hooks", "", http.Header{}).refused(401, "unauthorized")
	c.post("policy/42/categories", `{}`).refused(403, "forbidden")
	c.get("accounts/nobody").refused(404, "account_not_found")
	c.Inject("GET /hooks", Respond(500, ""))
	c.get("hooks").refused(500, "server_error")
	run := settlement + "?include_column_headers=true"
	c.get(run).ok()
	c.get(run).refused(409, "duplicate_request")
	c.get("policy/9/policy").refused(404, "policy_not_found")
	c.post("accounts/x/wallet/other", `{}`).refused(404, "unsupported_provider")
	c.get("hooks").refused(429, "rate_limit_exceeded")
}

func TestSpec_9_EveryPathHasThePrefix(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	root := strings.TrimSuffix(c.URL, "3.0/")
	require.NotEqual(t, root, c.URL)
	c.URL = root
	for _, path := range []string{"accounts/x", "1.0/accounts/x", "3.1/accounts/x", "3.0accounts/x"} {
		c.get(path).refused(404, "not_found")
	}
	c.get("3.0/accounts/x").refused(404, "account_not_found")
}

// operationPath turns a template of Operations into a path with values that no account, hook or template has.
func operationPath(name string) (method, path string) {
	method, template, _ := strings.Cut(name, " ")
	return method, strings.NewReplacer("/{", "/", "}", "").Replace(template)[1:]
}

func TestSpec_5_Rule1_401OnEachOperation(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true, TokenLifetime: time.Hour, Kind: true})
	expired := c.token
	c.Advance(time.Hour)
	valid := c.newToken()
	var open []string
	for _, name := range service.Operations() {
		if name == "POST /token" {
			open = append(open, name)
			continue
		}
		method, path := operationPath(name)
		for _, authorization := range []string{"", "Bearer", "Bearer " + expired, "Bearer " + valid[1:], "Bearer " + valid + "0", "Basic " + valid, valid} {
			header := http.Header{"Content-Type": {vendorJSON}}
			if authorization != "" {
				header.Set("Authorization", authorization)
			}
			c.send(method, path, "", header).refused(401, "unauthorized")
		}
		got := c.send(method, path, "", http.Header{"Authorization": {"Bearer " + valid}})
		require.NotEqual(t, 401, got.status, name)
	}
	require.Len(t, open, 1)
}

func TestSpec_5_Rule2_BasicCredentials(t *testing.T) {
	t.Parallel()
	c := startWithoutToken(t, Options{ClientID: "id ?>", ClientSecret: "se:cret ?>ÿ"})
	const grant = "grant_type=client_credentials"
	good := basic("id ?>", "se:cret ?>ÿ")
	require.Contains(t, good, "/", "a letter that differs between the alphabets, or the test shows nothing")
	for _, authorization := range []string{good, strings.Replace(good, "Basic", "basic", 1), strings.Replace(good, "Basic", "BASIC", 1)} {
		c.tokenRequest(authorization, grant).ok()
	}
	raw := []byte("id ?>:se:cret ?>ÿ")
	for _, encoded := range []string{base64.URLEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(append(raw, 'x')), "", "====", string(raw)} {
		c.tokenRequest("Basic "+encoded, grant).refused(400, "invalid_client")
	}
	for _, pair := range [][2]string{{"id ?>", "se"}, {"id ?>", "cret ?>ÿ"}, {"id%20%3F%3E", "se%3Acret"}, {"ID ?>", "se:cret ?>ÿ"}} {
		c.tokenRequest(basic(pair[0], pair[1]), grant).refused(401, "invalid_client")
	}
}

func TestSpec_7_500_ServerErrorOnEachOperation(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for _, name := range service.Operations() {
		c.Inject(name, Respond(500, ""))
		method, path := operationPath(name)
		c.do(method, path, "").refused(500, "server_error")
	}
}
