package interop

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/internal/tests/sample"
)

var errSent = errors.New("sent")

// The written document is valid for another library, which accepts each request of the client, with all members and with the required ones.
func TestOpenAPIAcceptsRequests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../internal/reference/openapi.json")
	require.NoError(t, err)
	loader := openapi3.NewLoader()
	document, err := loader.LoadFromData(text)
	require.NoError(t, err)
	require.NoError(t, document.Validate(t.Context(), openapi3.IsOpenAPI31OrLater()))
	openapi3filter.RegisterBodyDecoder(reference.MediaJSON, openapi3filter.JSONBodyDecoder)
	accepted := 0
	for _, o := range reference.Read().Operations {
		if o.Name == "Token" {
			continue
		}
		item := document.Paths.Value(o.Path)
		route := &routers.Route{Spec: document, Path: o.Path, PathItem: item, Method: o.Method, Operation: item.GetOperation(o.Method)}
		for _, maximal := range []bool{false, true} {
			r := sample.NewRequest(o, maximal)
			_, err := r.CallPage(t.Context(), harness.ServiceClient(t, harness.RoundTripFunc(func(sent *http.Request) (*http.Response, error) {
				if sent.URL.Path == harness.TokenPath {
					return harness.Grant(1, "3600")(sent)
				}
				input := &openapi3filter.RequestValidationInput{
					Request: sent, PathParams: r.Path, Route: route, Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
				}
				require.NoError(t, openapi3filter.ValidateRequest(sent.Context(), input), "%s: %v", o.Name, r.Body)
				accepted++
				if r.Body != nil { // another body is not accepted
					sent.Body, sent.GetBody = io.NopCloser(strings.NewReader("7")), nil
					require.Error(t, openapi3filter.ValidateRequest(sent.Context(), input), o.Name)
				}
				return nil, errSent
			})))
			require.ErrorIs(t, err, errSent, o.Name)
		}
	}
	require.Equal(t, 2*(len(reference.Read().Operations)-1), accepted)
}
