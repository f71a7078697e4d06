package prepaidvcr

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// entry is a recorded exchange.
type entry struct {
	*cassette.Interaction
	request *request
	dropped []string // places of the response
	used    bool
}

func (e *entry) isToken() bool { return e.request.name() == tokenName }

// valueOf is a value, or a pseudonym, of one kind. The label "" is any kind.
type valueOf struct{ label, text string }

// player finds the response to a request: that of the first unused recorded request that does not differ.
type player struct {
	schema *schema

	mu      sync.Mutex
	entries []*entry
	onTape  map[string]bool    // pseudonyms of the cassette
	own     map[valueOf]string // the caller's last value for a pseudonym
	tape    map[valueOf]string // the pseudonym of the caller's ID
	tokens  int                // number of generated tokens
}

// load opens a cassette.
func load(path string) (*player, error) {
	tape, err := cassette.Load(path)
	if missing, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, &CassetteError{Path: path + extension, Rule: "cannot be read", Err: missing}
	}
	if err != nil || slices.Contains(tape.Interactions, nil) {
		return nil, &CassetteError{Path: path + extension, Rule: "is no cassette"} // a YAML reader's error contains values
	}
	if len(tape.Interactions) == 0 {
		return nil, &CassetteError{Path: path + extension, Rule: "has no requests"}
	}
	var n names
	for _, i := range tape.Interactions {
		n.read(i.Request.Headers, i.Response.Headers)
	}
	p := &player{schema: newSchema(n), onTape: map[string]bool{}, own: map[valueOf]string{}, tape: map[valueOf]string{}}
	for _, i := range tape.Interactions {
		address, err := url.Parse(i.Request.URL)
		if err != nil {
			return nil, &CassetteError{Path: path + extension, Rule: "has an address that cannot be read"}
		}
		e := &entry{Interaction: i, request: p.schema.request(asIs, i.Request.Method, address, []byte(i.Request.Body))}
		_, response := p.schema.response(asIs, e.request.operation, i.Response.Code, []byte(i.Response.Body))
		e.dropped = response.dropped
		p.entries = append(p.entries, e)
		p.learn(e.request.places)
		p.learn(response.places)
	}
	return p, nil
}

// learn records the pseudonyms of the cassette.
func (p *player) learn(places map[string][]leaf) {
	for _, leaves := range places {
		for _, l := range leaves {
			if !l.kept && distinguishes(l.value) {
				p.onTape[l.value] = true
			}
		}
	}
}

// find returns the response to a request, with its body, and marks it as used.
func (p *player) find(method string, r *request) (*cassette.Interaction, string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	missing := &UnrecordedError{Operation: r.name()}
	asked, given := false, false // the recording requested a token, and got one
	for _, e := range p.entries {
		if r.operation == nil || e.request.operation != r.operation || e.Request.Method != method {
			continue
		}
		missing.Recorded++
		asked, given = true, given || e.Response.Code == http.StatusOK
		if e.used {
			missing.Used++
			continue
		}
		if differing := p.differing(r, e.request); len(differing) > 0 {
			if missing.Differing == nil || len(differing) < len(missing.Differing) {
				missing.Differing = differing
			}
			continue
		}
		if len(e.dropped) > 0 {
			missing.LeftOut = e.dropped
			continue
		}
		e.used = true
		p.bind(r, e.request)
		body, _ := p.schema.response(p.show, r.operation, e.Response.Code, []byte(e.Response.Body))
		return e.Interaction, body, nil
	}
	if r.name() == tokenName && (given || !asked) {
		token := p.newToken()
		return token, token.Response.Body, nil
	}
	return nil, "", missing
}

// differing returns the places in which a request differs from a recorded one.
func (p *player) differing(r, recorded *request) []string {
	places := maps.Clone(recorded.places)
	maps.Copy(places, r.places)
	maps.DeleteFunc(places, func(where string, _ []leaf) bool {
		return slices.EqualFunc(r.places[where], recorded.places[where], p.fits)
	})
	return slices.Sorted(maps.Keys(places))
}

// fits reports whether the caller's value may be in the place of a recorded value. Times are not compared. An ID fits only the pseudonym
// that it first matched.
func (p *player) fits(own, recorded leaf) bool {
	switch {
	case compared(own) || compared(recorded):
		return own.value == recorded.value && own.kept == recorded.kept
	case own.value == recorded.value, own.value == "", !distinguishes(recorded.value):
		return true
	case p.onTape[own.value]:
		return false
	case !own.id:
		return true
	}
	pseudonym, bound := p.tape[valueOf{own.label, own.value}]
	value, taken := p.own[valueOf{own.label, recorded.value}]
	return (!bound || pseudonym == recorded.value) && (!taken || value == own.value || value == recorded.value)
}

func compared(l leaf) bool { return l.kept && !isDate(l.value) }

// bind records the pseudonyms that stand for the values of a request.
func (p *player) bind(r, recorded *request) {
	for where, leaves := range r.places {
		for i, own := range leaves {
			pseudonym := recorded.places[where][i].value
			if own.kept || own.value == "" || !distinguishes(pseudonym) {
				continue
			}
			p.own[valueOf{own.label, pseudonym}] = own.value
			p.own[valueOf{"", pseudonym}] = own.value
			if own.id && own.value != pseudonym {
				p.tape[valueOf{own.label, own.value}] = pseudonym
			}
		}
	}
}

// show returns the caller's last value for a pseudonym in a response: programs that compare sent with received values must find them equal.
// It prefers a value of the same kind. If the caller sent none, it returns the pseudonym.
func (p *player) show(l leaf) string {
	for _, label := range []string{l.label, ""} {
		if own, ok := p.own[valueOf{label, l.value}]; ok {
			return own
		}
	}
	return l.value
}

// newToken responds to a token request that was not recorded: the recorded client had its own token source, or
// requested tokens at other times. Each token is new, because a client does not reuse a refused token.
func (p *player) newToken() *cassette.Interaction {
	p.tokens++
	made := ok()
	made.Response.Body = fmt.Sprintf(`{"access_token":"replay-%d","token_type":"bearer","expires_in":3600}`, p.tokens)
	return made
}

// ok is a response without a body.
func ok() *cassette.Interaction {
	return &cassette.Interaction{Response: cassette.Response{
		Status: "200 OK", Code: http.StatusOK, Headers: http.Header{"Content-Type": {vendorType(recordedVendor)}},
	}}
}

// unused returns the names of recorded operations that were not requested, except tokens.
func (p *player) unused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	for _, e := range p.entries {
		if !e.used && !e.isToken() && !p.mayAsk(e) {
			names = append(names, e.request.name())
		}
	}
	return names
}

// mayAsk reports whether the client may have read the summary only to learn whether the service works: earlier versions recorded such
// reads, which concern the account of a payment.
func (p *player) mayAsk(read *entry) bool {
	account, ok := strings.CutSuffix(read.Request.URL, "/status")
	return ok && read.Request.Method == http.MethodGet && slices.ContainsFunc(p.entries, func(e *entry) bool {
		return e.Request.Method == http.MethodPost && (e.Request.URL == account+"/transfer" || e.Request.URL == account+"/directentryout")
	})
}

func (p *player) roundTrip(req *http.Request, body []byte) (*http.Response, error) {
	found, content, err := p.find(req.Method, p.schema.request(asIs, req.Method, req.URL, body))
	switch {
	case err != nil:
		return nil, err
	case found.Response.Code == 0:
		return nil, lostError{}
	}
	return played(req, found, content), nil
}

func played(req *http.Request, found *cassette.Interaction, content string) *http.Response {
	return &http.Response{
		Status: found.Response.Status, StatusCode: found.Response.Code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        served(found.Response.Headers, askedVendor(req.Header)),
		Body:          io.NopCloser(strings.NewReader(content)),
		ContentLength: int64(len(content)),
		Request:       req,
	}
}
