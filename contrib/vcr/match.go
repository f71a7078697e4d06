package prepaidvcr

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// scrubbedPart replaces a value that matching ignores.
const scrubbedPart = "*"

// parts are the criteria for a match: the kept values of each place.
type parts map[string][]string

func (r *scrubbedRequest) parts() parts {
	p := parts{}
	for _, l := range r.leaves {
		value := scrubbedPart
		if l.kept && !isDate(l.value) {
			value = l.value
		}
		p[l.where] = append(p[l.where], value)
	}
	return p
}

func (p parts) equal(other parts) bool { return maps.EqualFunc(p, other, slices.Equal[[]string]) }

// differing returns the places in which p and other differ, in order.
func (p parts) differing(other parts) []string {
	places := maps.Clone(p)
	maps.Copy(places, other)
	maps.DeleteFunc(places, func(where string, _ []string) bool { return slices.Equal(p[where], other[where]) })
	return slices.Sorted(maps.Keys(places))
}

// scrubbedValues are the values that were not kept, by place.
func (r *scrubbedRequest) scrubbedValues() parts {
	p := parts{}
	for _, l := range r.leaves {
		if l.scrubs() {
			p[l.where] = append(p[l.where], l.value)
		}
	}
	return p
}

// player finds the response to a request: that of the first unused recorded request that matches without a contradiction.
type player struct {
	schema *schema

	mu     sync.Mutex
	tape   *cassette.Cassette
	known  map[int]*scrubbedRequest // by interaction
	bound  *bindings
	asked  bool // the recording requested a token
	given  bool // a recorded token was returned
	madeUp int  // number of generated tokens
}

func newPlayer(s *schema, tape *cassette.Cassette) (*player, error) {
	var n named
	for _, interaction := range tape.Interactions {
		listed := namedBy(interaction.Request.Headers)
		n.keep, n.scrub, n.calls = append(n.keep, listed.keep...), append(n.scrub, listed.scrub...), append(n.calls, listed.calls...)
	}
	s = s.with(n)
	p := &player{schema: s, tape: tape, known: map[int]*scrubbedRequest{}, bound: newBindings()}
	for i, interaction := range tape.Interactions {
		address, err := url.Parse(interaction.Request.URL)
		if err != nil {
			return nil, &CassetteError{Rule: "an address cannot be read"}
		}
		interaction.ID = i
		request := s.request(newPseudonyms(), interaction.Request.Method, address, []byte(interaction.Request.Body))
		_, leaves := s.response(&scrubber{names: newPseudonyms(), columns: columnsOf(interaction.Response.Headers)},
			request.operation, interaction.Response.Code, []byte(interaction.Response.Body))
		p.known[i] = request
		p.bound.learn(request.leaves)
		p.bound.learn(leaves)
		if p.isToken(interaction) {
			p.asked, p.given = true, p.given || interaction.Response.Code == http.StatusOK
		}
	}
	return p, nil
}

func (p *player) isToken(interaction *cassette.Interaction) bool {
	op := p.known[interaction.ID].operation
	return op != nil && op.name == tokenName
}

// tokenName is the operation that the client may request at any time.
const tokenName = "Token"

// find returns the response to request, with its body, and marks it as used.
func (p *player) find(method string, request *scrubbedRequest) (*cassette.Interaction, string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wanted := request.found
	alike := func(i *cassette.Interaction) bool {
		recorded := p.known[i.ID]
		return i.Request.Method == method && recorded.operation == request.operation && recorded.found.equal(wanted)
	}
	var body string
	found := p.take(func(i *cassette.Interaction) bool {
		if !alike(i) {
			return false
		}
		var contradicting, leftOut []string
		body, contradicting, leftOut = p.respond(request, i)
		return len(contradicting)+len(leftOut) == 0
	})
	if found != nil {
		p.bound.bind(request, p.known[found.ID])
		return found, body, nil
	}
	if request.operation != nil && request.operation.name == tokenName && (p.given || !p.asked) {
		token := p.newToken()
		return token, token.Response.Body, nil
	}
	return nil, "", p.missing(request, wanted, alike)
}

// respond returns i's body with the caller's values, or the places in which request contradicts i, or in which i lost values.
func (p *player) respond(request *scrubbedRequest, i *cassette.Interaction) (body string, contradicting, leftOut []string) {
	recorded := p.known[i.ID]
	if contradicting = p.bound.contradictions(request, recorded); len(contradicting) > 0 {
		return "", contradicting, nil
	}
	r := &restorer{operation: request.operation, before: p.bound.sent, now: sentIn(request, recorded)}
	body, leaves := p.schema.response(
		&scrubber{restore: r.value, columns: columnsOf(i.Response.Headers)}, request.operation, i.Response.Code, []byte(i.Response.Body))
	if !r.changed {
		body = i.Response.Body
	}
	slices.Sort(r.ambiguous)
	return body, slices.Compact(r.ambiguous), p.schema.leftOut(request.operation, i.Response.Code, leaves)
}

// newToken responds to a token request that was not recorded: the recorded client had its own token source, or
// requested tokens at other times. Each token is new, because a client does not reuse a refused token.
func (p *player) newToken() *cassette.Interaction {
	p.madeUp++
	body := fmt.Sprintf(`{"access_token":"replay-%d","token_type":"bearer","expires_in":3600}`, p.madeUp)
	return &cassette.Interaction{Response: cassette.Response{
		Status: "200 OK", Code: http.StatusOK, Body: body, Headers: http.Header{"Content-Type": {vendorType(recordedVendor)}},
	}}
}

// take plays the first unused matching interaction. go-vcr offers unused interactions in order; it does not see the request.
func (p *player) take(fits func(*cassette.Interaction) bool) *cassette.Interaction {
	next := 0
	p.tape.Matcher = func(*http.Request, cassette.Request) bool {
		for p.tape.Interactions[next].WasReplayed() {
			next++
		}
		next++
		return fits(p.tape.Interactions[next-1])
	}
	found, err := p.tape.GetInteraction(&http.Request{Method: http.MethodGet, URL: &url.URL{}, Header: http.Header{}})
	if err != nil {
		return nil // the only error: no interaction fits
	}
	return found
}

// missing returns the error for a request that was not found: it has the differences from the most similar request of the operation.
func (p *player) missing(request *scrubbedRequest, wanted parts, alike func(*cassette.Interaction) bool) *UnrecordedError {
	failure := &UnrecordedError{Operation: request.name()}
	nearest := -1
	for _, i := range p.tape.Interactions {
		recorded := p.known[i.ID]
		if recorded.operation != request.operation {
			continue
		}
		failure.Recorded++
		if i.WasReplayed() {
			failure.Used++
			continue
		}
		if alike(i) {
			if nearest != 0 {
				nearest, failure.Differing = 0, nil
				_, failure.Contradicting, failure.LeftOut = p.respond(request, i)
			}
			continue
		}
		if differing := wanted.differing(recorded.found); nearest < 0 || len(differing) < nearest {
			nearest, failure.Differing = len(differing), differing
		}
	}
	return failure
}

// unused returns the names of recorded operations that were not requested, except tokens.
func (p *player) unused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	for _, i := range p.tape.Interactions {
		if !i.WasReplayed() && !p.isToken(i) && !p.mayAsk(i) {
			names = append(names, p.known[i.ID].name())
		}
	}
	return names
}

// mayAsk reports whether the client may have read the summary only to learn whether the service works: earlier versions recorded such
// reads, which concern the account of a payment.
func (p *player) mayAsk(read *cassette.Interaction) bool {
	account, ok := strings.CutSuffix(read.Request.URL, "/status")
	return ok && read.Request.Method == http.MethodGet && slices.ContainsFunc(p.tape.Interactions, func(i *cassette.Interaction) bool {
		return i.Request.Method == http.MethodPost && (i.Request.URL == account+"/transfer" || i.Request.URL == account+"/directentryout")
	})
}

// served returns a recorded response's header, with the vendor that this request accepts.
func served(recorded map[string][]string, vendor string) map[string][]string {
	header := map[string][]string{}
	for name, values := range recorded {
		if keptHeaders[name] == nil {
			continue
		}
		for _, value := range values {
			if vendor != "" {
				value = strings.Replace(value, vendorType(recordedVendor), vendorType(vendor), 1)
			}
			header[name] = append(header[name], value)
		}
	}
	return header
}
