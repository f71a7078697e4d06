package prepaidotel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	prepaidotel "github.com/cardprograms/prepaid/contrib/otel"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// canary is in all private values: ids, references, names, secrets, texts of errors.
const canary = "CANARY"

// No span and no measurement has a sent or received value, or the text of an error.
func TestCanaries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, canaries)
}

func canaries(t *testing.T) {
	s := newStage(t, prepaidtest.Options{InMemory: true, ClientID: "client-" + canary, ClientSecret: "secret-" + canary, ReportDelay: -1})
	id := s.AddAccount(prepaidtest.SeedAccount{
		ID: "acc-" + canary, Key: "key-" + canary, Balance: "77131.19", DisplayName: "name-" + canary,
	})
	s.AddReportCSV("report-"+canary, "a\n"+canary+"\n")
	config := s.Config()
	config.AttemptTimeout = 5 * time.Second
	s.open(config, prepaidotel.Options{})
	account := id
	body := `{"error":"` + canary + `","error_description":"` + canary + `"}`
	params := transferTo("to-" + canary)
	params.RequestID, params.Amount = "pay-"+canary, prepaid.MustAmount("77131.17")
	params.SourceReference, params.DestinationReference = canary, canary

	ctx := t.Context()
	broken := func(status int) {
		s.Inject(prepaidtest.AnyOperation, prepaidtest.RespondBody(status, "application/vnd.vendor+json", body))
	}
	transfer := func() error {
		_, err := s.client.Accounts.Transfer(ctx, account, params)
		return err
	}
	_, err := s.client.Token(ctx)
	require.NoError(t, err)
	for _, status := range []int{400, 409, 500, 202, 302} {
		broken(status)
		require.Error(t, transfer())
	}
	require.Error(t, transfer(), "there is no such account")
	_, err = s.client.Accounts.Get(ctx, account+"/"+canary)
	require.Error(t, err)
	for _, err := range s.client.Accounts.SearchCompany(ctx, prepaidtest.DefaultCompany, prepaid.SearchCompanyParams{
		FirstName: canary, Mobile: canary,
	}) {
		require.NoError(t, err)
	}
	reader, err := s.client.Reporting.Run(ctx, "report-"+canary, prepaid.RunReportParams{Interval: time.Millisecond})
	require.NoError(t, err)
	_, err = reader.Report()
	require.NoError(t, err)
	s.ended()

	for _, damage := range []func(*prepaid.Config){
		func(c *prepaid.Config) { c.Token = failingSource{}.Token },
		func(c *prepaid.Config) { c.Transport = failingTransport{} },
		func(c *prepaid.Config) {
			c.Token = staticToken()
			c.Limiter = limiterFunc(func(context.Context) error { return errors.New(canary) })
		},
	} {
		config := s.Config()
		damage(&config)
		s.open(config, prepaidotel.Options{})
		require.Error(t, transfer())
		s.ended()
	}

	shown, err := json.Marshal(s.collect())
	require.NoError(t, err)
	texts := append(s.tree(), s.counts()...)
	require.Greater(t, len(texts), 40)
	texts = append(texts, string(shown))
	for _, span := range s.spans.GetSpans() {
		require.Empty(t, span.Links)
		require.Empty(t, span.SpanContext.TraceState().String())
		texts = append(texts, fmt.Sprintf("%+v", span))
	}
	for _, text := range texts {
		for _, secret := range []string{canary, "77131.", "3.0/", "company/42", "token-1"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is seen", secret)
			}
		}
	}
}

type failingSource struct{}

func (failingSource) Token(context.Context, *oauth2.Token) (*oauth2.Token, error) {
	return nil, errors.New(canary)
}

type failingTransport struct{}

func (failingTransport) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New(canary)
}
