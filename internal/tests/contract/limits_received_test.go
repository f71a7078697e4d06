package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// heldCardholder is a cardholder that a service may hold: nothing in it would be accepted as a new value, or written as it came.
const heldCardholder = `{
	"title":"","first_name":null,"middle_name":"B\u00e9","last_name":"Lee","sex":"X","mobile_number":"0400000000",
	"primary_address":{"address_line1":"10 Downing \"St\"","city":"","state":"","country":"gb","postcode":"SW1A 1AA"},
	"alternate_address":{"state":"New South Wales","country":"Australia","postcode":"20-00"},
	"date_of_birth":"1990-05-03T14:00:00.000Z","email_address":"a..b@example.com","driver_licence_number":"0123456789012345678901234567890",
	"passport":{"passport_number":"PA1234567890","passport_expiry":"2001-02-03T00:00:00+10:00","passport_issuing_country":"Australia"}}`

// putsBack reads personal as a service would send it, has change work on it, and returns the body of an update.
func putsBack(t *testing.T, personal string, escaped bool, change func(*prepaid.Cardholder)) (map[string]any, error) {
	t.Helper()
	name := "personal"
	if escaped {
		name = `\u0070ersonal` // not read on the fast path
	}
	body, err := putsAccountBack(t, `"`+name+`":`+personal, func(p *prepaid.UpdateAccountParams) { change(p.Cardholder) })
	if body == "" {
		return nil, err
	}
	sent, ok := asMap(t, body)["registration"].(map[string]any)
	require.True(t, ok, body)
	return sent, err
}

// putsAccountBack reads an account with the given members, has change work on an update with copies of them, and returns its body.
func putsAccountBack(t *testing.T, members string, change func(*prepaid.UpdateAccountParams)) (sent string, err error) {
	t.Helper()
	client := harness.ServiceClient(t, harness.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/token"):
			return harness.Grant(1, "3600")(r)
		case r.Method == http.MethodGet:
			return harness.Respond(http.StatusOK, harness.VendorJSON, `{"account_id":"eaid","company_id":7,"balance":1,"status":"active",`+members+`}`)(r)
		}
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		sent = string(body)
		return harness.Respond(http.StatusOK, harness.VendorJSON, "")(r)
	}))
	account, err := client.Accounts.Get(t.Context(), "eaid", prepaid.IncludeCardholder)
	require.NoError(t, err)
	params := prepaid.UpdateAccountParams{Cardholder: new(*account.Cardholder)}
	if account.PortalIdentifier != nil {
		params.PortalIdentifier = new(*account.PortalIdentifier)
	}
	change(&params)
	err = client.Accounts.Update(t.Context(), "eaid", params)
	return sent, err
}

func asMap(t *testing.T, text string) map[string]any {
	t.Helper()
	var value map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &value))
	return value
}

// eachReading runs a test for both ways of reading an account.
func eachReading(t *testing.T, run func(t *testing.T, escaped bool)) {
	t.Helper()
	for _, escaped := range []bool{false, true} {
		t.Run(fmt.Sprintf("escaped %t", escaped), func(t *testing.T) { run(t, escaped) })
	}
}

// Only members that the caller changes are written anew, and only those are checked.
func TestCardholderChangedMembersAreNew(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	for name, row := range map[string]struct {
		change func(*prepaid.Cardholder)
		want   func(object)
		fault  string
	}{
		"a member": {change: func(c *prepaid.Cardholder) { c.MobileNumber = "0411111111" }, want: func(o object) { o["mobile_number"] = "0411111111" }},
		"a member of an address": {
			change: func(c *prepaid.Cardholder) { c.PrimaryAddress.City = "Perth" },
			want:   func(o object) { o["primary_address"].(object)["city"] = "Perth" },
		},
		"a member that was absent":    {change: func(c *prepaid.Cardholder) { c.PhoneNumber = "08" }, want: func(o object) { o["phone_number"] = "08" }},
		"an optional member, to none": {change: func(c *prepaid.Cardholder) { c.Sex = "" }, want: func(o object) { delete(o, "sex") }},
		"a part, to none": {
			change: func(c *prepaid.Cardholder) { c.Passport, c.AlternateAddress = nil, nil },
			want:   func(o object) { delete(o, "passport"); delete(o, "alternate_address") },
		},
		"a part, to another with one value kept": {
			change: func(c *prepaid.Cardholder) {
				c.Passport = &prepaid.Passport{Number: "N1", Expiry: c.Passport.Expiry, IssuingCountry: "AUS"}
			},
			want: func(o object) {
				passport := o["passport"].(object)
				passport["passport_number"], passport["passport_issuing_country"] = "N1", "AUS"
			},
		},
		"a date":         {change: func(c *prepaid.Cardholder) { c.DateOfBirth.Day = 4 }, want: func(o object) { o["date_of_birth"] = "1990-05-04T00:00:00Z" }},
		"to a bad sex":   {change: func(c *prepaid.Cardholder) { c.Sex = "Y" }, fault: "sex"},
		"to no country":  {change: func(c *prepaid.Cardholder) { c.PrimaryAddress.Country = "" }, fault: "primary_address.country"},
		"to a bad code":  {change: func(c *prepaid.Cardholder) { c.PrimaryAddress.Postcode = "SW1A 2AA" }, fault: "primary_address.postcode"},
		"to a past date": {change: func(c *prepaid.Cardholder) { c.Passport = new(*c.Passport); c.Passport.Expiry.Day++ }, fault: "passport.passport_expiry"},
		"to bad UTF-8":   {change: func(c *prepaid.Cardholder) { c.LastName = "\xff" }, fault: "last_name"},
		"to no name":     {change: func(c *prepaid.Cardholder) { c.LastName = "" }, fault: "last_name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachReading(t, func(t *testing.T, escaped bool) {
				sent, err := putsBack(t, heldCardholder, escaped, row.change)
				if row.fault != "" {
					require.Nil(t, sent)
					requireRefusal(t, err, "", harness.Fault{Field: "registration." + row.fault})
					return
				}
				require.NoError(t, err)
				want := asMap(t, heldCardholder)
				row.want(want)
				require.Equal(t, want, sent)
			})
		})
	}
}

// Values that the service holds can be put back, each member as it came, together and on its own.
func TestCardholderIsPutBackAsReceived(t *testing.T) {
	t.Parallel()
	const whole = `{"first_name":"A","last_name":"B","date_of_birth":"1990-05-03T00:00:00Z","primary_address":{"state":"WA","country":"AU"}%s}`
	for _, row := range [][2]string{
		{}, {`,"sex":"X"`}, {`,"email_address":"a..b@example.com"`}, {`,"email_address":"none"`}, {`,"title":""`}, {`,"sex":"m"`},
		{`,"mobile_number":"` + strings.Repeat("0", 51) + `"`}, {`,"alternate_address":{}`}, {`,"alternate_address":{"state":""}`},
		{`,"passport":{"passport_number":"","passport_expiry":"2001-02-03T00:00:00Z","passport_issuing_country":""}`},
		{`,"passport":{"passport_number":"1","passport_expiry":"2999-02-03","passport_issuing_country":"AUS"}`},
		{`,"passport":{}`}, {`,"passport":null`, ` `}, {`,"title":null,"sex":"X"`, `,"sex":"X"`}, // no value
		{`,"sex":"X","unknown":{"a":[1]}`}, {`,"unknown":null`},
		{`,"primary_address":{"state":"WA"},"sex":"F"`, `,"primary_address":{"state":"WA","country":"AU"},"sex":"F"`},
		{`,"date_of_birth":"1990-05-03T14:00:00Z"`}, {`,"date_of_birth":""`}, {`,"date_of_birth":null`}, {`,"date_of_birth":"1990-05-03"`},
		{`,"primary_address":{"state":"WA","country":"AU","postcode":"SW1A 1AA"}`}, {`,"primary_address":{"state":null,"country":"AU"}`},
	} {
		received, want := fmt.Sprintf(whole, row[0]), fmt.Sprintf(whole, row[1])
		if row[0] == "" {
			received = heldCardholder
		}
		if row[1] == "" {
			want = received
		}
		eachReading(t, func(t *testing.T, escaped bool) {
			sent, err := putsBack(t, received, escaped, func(*prepaid.Cardholder) {})
			require.NoError(t, err, received)
			require.Equal(t, asMap(t, want), sent, received)
		})
	}
}

// A passport that expires after it was read is still put back.
func TestCardholderPassportExpiresInBetween(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		day := prepaid.DateOf(time.Now().UTC().AddDate(0, 0, 2))
		personal := `{"first_name":"A","last_name":"B","date_of_birth":"1990-05-03T00:00:00Z","primary_address":{"state":"WA","country":"AU"},` +
			`"passport":{"passport_number":"1","passport_expiry":"` + day.String() + `T00:00:00Z","passport_issuing_country":"AUS"}}`
		sent, err := putsBack(t, personal, false, func(*prepaid.Cardholder) { time.Sleep(72 * time.Hour) })
		require.NoError(t, err)
		require.Equal(t, asMap(t, personal), sent)
	})
}

// heldAccount has text that is not Unicode, and members that the reference does not list, at each level.
const (
	heldHolder = `{"first_name":"Jos\xe9","last_name":"\ud800","date_of_birth":"1990-05-03T00:00:00Z","tier":[1,{"a":"\xe9"}],` +
		`"primary_address":{"city":"Orl\xe9ans","state":"WA","country":"AU","geo":"\ud83d"}` + heldPassport + `}`
	heldPassport = `,"passport":{"passport_number":"1","passport_expiry":"2999-02-03T00:00:00Z","passport_issuing_country":"AUS","issued":1.50}`
	heldPortal   = `{"client_id":"\xe9","program_id":"2","cardholder_id":"3","level":{"x":null}}`
)

// An update keeps the received bytes of each member, listed or not, that the program did not change.
func TestUpdateKeepsReceivedBytes(t *testing.T) {
	t.Parallel()
	type update = prepaid.UpdateAccountParams
	held := strings.NewReplacer(`\xe9`, "\xe9").Replace
	stored := func(p *update) { // as JSON
		data, err := json.Marshal(p)
		require.NoError(t, err)
		*p = update{}
		require.NoError(t, json.Unmarshal(data, p))
	}
	for name, row := range map[string]struct {
		change       func(*update)
		before, next string // in the received text, and what is sent instead
		fault        string
	}{
		"nothing":               {change: func(*update) {}},
		"a name":                {func(p *update) { p.Cardholder.LastName = "Lee" }, `\ud800`, `Lee`, ""},
		"a city":                {func(p *update) { p.Cardholder.PrimaryAddress.City = "Perth" }, `Orl\xe9ans`, `Perth`, ""},
		"an ID of the portal":   {func(p *update) { p.PortalIdentifier.ProgramID = "4" }, `"program_id":"2"`, `"program_id":"4"`, ""},
		"no passport":           {func(p *update) { p.Cardholder.Passport = nil }, heldPassport, ``, ""},
		"an unlisted member":    {func(p *update) { p.PortalIdentifier.UnlistedMembers = `{"level":[],"n":2}` }, `"level":{"x":null}`, `"level":[],"n":2`, ""},
		"no unlisted members":   {func(p *update) { p.PortalIdentifier.UnlistedMembers = "" }, `,"level":{"x":null}`, ``, ""},
		"a listed member":       {change: func(p *update) { p.Cardholder.UnlistedMembers = `{"title":"x"}` }, fault: "registration.unlisted_members"},
		"another spelling":      {change: func(p *update) { p.Cardholder.UnlistedMembers = `{"primary_address":{"Post-Code":"1"}}` }, fault: "registration.unlisted_members"},
		"a day with members":    {change: func(p *update) { p.Cardholder.UnlistedMembers = `{"date_of_birth":{"a":1}}` }, fault: "registration.unlisted_members"},
		"no object":             {change: func(p *update) { p.PortalIdentifier.UnlistedMembers = `{"a":}` }, fault: "portal_identifier.unlisted_members"},
		"lost text of a member": {change: func(p *update) { p.Cardholder.UnlistedMembers = `{"a":"` + "\ufffd" + `"}` }, fault: "registration.unlisted_members"},
		"lost text of a value":  {change: func(p *update) { p.Cardholder.FirstName = p.Cardholder.LastName + "x" }, fault: "registration.first_name"},
		"a display name":        {change: func(p *update) { p.DisplayName = new("Jos\ufffd") }, fault: "display_name"},
		"a copy in JSON":        {change: stored, fault: "registration.first_name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := putsAccountBack(t, held(`"personal":`+heldHolder+`,"portal_identifier":`+heldPortal), row.change)
			if row.fault != "" {
				require.Empty(t, body)
				invalid, ok := errors.AsType[*prepaid.ValidationError](err)
				require.True(t, ok, "%v", err)
				require.Equal(t, row.fault, invalid.Faults[0].Field)
				return
			}
			require.NoError(t, err)
			want := strings.Replace(`{"registration":`+heldHolder+`,"portal_identifier":`+heldPortal+`}`, row.before, row.next, 1)
			for _, member := range strings.FieldsFunc(held(want), func(r rune) bool { return strings.ContainsRune("{},[]", r) }) {
				require.Contains(t, body, member)
			}
			require.Len(t, body, len(held(want)))
		})
	}
}

// Unlisted members survive a store of the partner's as JSON.
func TestUnlistedMembersAreStored(t *testing.T) {
	t.Parallel()
	const personal = `{"first_name":"A","last_name":"B","date_of_birth":"1990-05-03T00:00:00Z","tier":2,"primary_address":{"state":"WA","country":"AU","geo":[1]}}`
	eachReading(t, func(t *testing.T, escaped bool) {
		sent, err := putsBack(t, personal, escaped, func(c *prepaid.Cardholder) {
			require.NotContains(t, fmt.Sprintf("%v %+v %#v", c, c, *c), "tier")
			data, err := json.Marshal(c)
			require.NoError(t, err)
			*c = prepaid.Cardholder{}
			require.NoError(t, json.Unmarshal(data, c))
		})
		require.NoError(t, err)
		require.Equal(t, asMap(t, personal), sent)
	})
}

// Equal compares fields; the received bytes are no part of a value.
func TestEqualIgnoresTheReceivedBytes(t *testing.T) {
	t.Parallel()
	var a, b prepaid.Cardholder
	require.NoError(t, json.Unmarshal([]byte(`{"first_name":"Ann","last_name":"Lee"}`), &a))
	require.NoError(t, json.Unmarshal([]byte(`{"last_name": "Lee", "first_name": "Ann"}`), &b))
	require.True(t, a.Equal(b))
	b.LastName = "Li"
	require.False(t, a.Equal(b))
	var p, q prepaid.PortalIdentifier
	require.NoError(t, json.Unmarshal([]byte(`{"client_id":"c","program_id":"p"}`), &p))
	require.NoError(t, json.Unmarshal([]byte(`{"program_id": "p", "client_id": "c"}`), &q))
	require.True(t, p.Equal(q))
	q.ClientID = "d"
	require.False(t, p.Equal(q))
}
