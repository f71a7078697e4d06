package contract

import (
	"context"
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/internal/tests/sample"
)

// eachRequest runs a test for each operation with a Go method, with the required parameters and members only, and with all.
func eachRequest(t *testing.T, test func(t *testing.T, r *sample.Request)) {
	t.Helper()
	for _, o := range reference.Read().Operations {
		for name, maximal := range map[string]bool{"minimal": false, "maximal": true} {
			if o.Name == "Token" {
				continue
			}
			t.Run(o.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				test(t, sample.NewRequest(o, maximal))
			})
		}
	}
}

// Each request has exactly the parameters and members of the document, with the values of the fields that it names.
func TestRequests(t *testing.T) {
	t.Parallel()
	eachRequest(t, func(t *testing.T, r *sample.Request) {
		values, err := r.Arguments()
		require.NoError(t, err)
		sent := sends(t, "request", func(ctx context.Context, c *prepaid.Client) error {
			_, err := r.CallPage(ctx, c)
			return err
		})
		require.Equal(t, r.Operation.Method, sent.method)
		require.Equal(t, "/3.0"+r.Target(), sent.path)
		query, err := url.ParseQuery(sent.query)
		require.NoError(t, err)
		if _, listed := r.Operation.Results.Get("204"); listed && r.Query.Get("page_number") == "" && query.Has("page_number") {
			query.Del("page_number") // the client always names page and size of a list
			query.Del("page_size")
		}
		require.Equal(t, r.Query, query)
		require.Equal(t, normal(t, r.Body), normal(t, sent.body))

		var reader sample.Reader
		for _, value := range values {
			if of := reflect.TypeOf(value); of.Kind() == reflect.Struct && r.Body != nil {
				reader.Compare(r.Operation.Name, r.Operation.Request.JSON(), r.Body, reflect.ValueOf(value))
				requireRoundTrip(t, value)
			}
		}
		require.Empty(t, reader.Differences)
	})
}

// normal returns a JSON value with its numbers in one form: 1.50 is 1.5.
func normal(t *testing.T, value any) any {
	t.Helper()
	data, isText := value.(string)
	if !isText {
		encoded, err := json.Marshal(value)
		require.NoError(t, err)
		data = string(encoded)
	}
	if data == "" {
		return nil
	}
	var plain any
	require.NoError(t, json.Unmarshal([]byte(data), &plain))
	return plain
}

// Client.Do sends the bytes of the operation's method, also if a struct of the caller's embeds the params and adds a member.
func TestRawCallSendsAsTheMethod(t *testing.T) {
	t.Parallel()
	eachRequest(t, func(t *testing.T, r *sample.Request) {
		sent := func(call func(context.Context, *prepaid.Client) error) harness.Request {
			script := harness.NewScript(harness.Respond(400, harness.VendorJSON, `{"error":"x"}`))
			script.CountReads = true
			err := call(t.Context(), script.Client(t))
			require.Len(t, script.Requests(), 1, "%v", err)
			return script.Requests()[0].Request
		}
		for name, value := range r.Path {
			r.Path[name] = strings.ReplaceAll(value, "é", "e") // Client.Do takes no other characters
		}
		want := sent(func(ctx context.Context, c *prepaid.Client) error {
			_, err := r.CallPage(ctx, c)
			return err
		})
		if !callable(r.Operation) {
			return
		}
		_, query, _ := strings.Cut(want.Target, "?")
		raw := prepaid.RawRequest{Method: r.Operation.Method, Path: r.Operation.Path, PathValues: r.Path}
		var err error
		raw.Query, err = url.ParseQuery(query)
		require.NoError(t, err)
		values, err := r.Arguments()
		require.NoError(t, err)
		do := func(ctx context.Context, client *prepaid.Client) error { return client.Do(ctx, raw, nil) }
		switch {
		case r.Body == nil:
		case r.Operation.Name == "Hooks.Dismiss":
			raw.Body = r.Body
		default:
			raw.Body = values[len(values)-1]
		}
		require.Equal(t, want, sent(do))
		if more := embedded(raw.Body); more != nil {
			raw.Body, want.Body = more, strings.TrimSuffix(want.Body, "}")+`,"new":"x"}`
			want.Body = strings.Replace(want.Body, "{,", "{", 1)
			require.Equal(t, want, sent(do))
		}
	})
}

// embedded returns a struct that embeds params and has a further member.
func embedded(params any) any {
	switch p := params.(type) {
	case prepaid.ChangeRulesParams[prepaid.MCC]:
		return struct {
			prepaid.ChangeRulesParams[prepaid.MCC]
			New string `json:"new"`
		}{p, "x"}
	case prepaid.ChangeRulesParams[prepaid.MerchantRule]:
		return struct {
			*prepaid.ChangeRulesParams[prepaid.MerchantRule]
			New string `json:"new"`
		}{&p, "x"}
	case prepaid.CreateAccountParams:
		return struct {
			prepaid.CreateAccountParams
			New string `json:"new"`
		}{p, "x"}
	case prepaid.SealedPINParams:
		return &struct {
			prepaid.SealedPINParams
			New string `json:"new"`
		}{p, "x"}
	}
	return nil
}
