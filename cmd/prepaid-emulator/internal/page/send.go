package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// sendForm is a request to send, unchanged or edited.
type sendForm struct {
	Method, Target, Type, Body string
	Edited                     bool
}

func methods() []string { return []string{"GET", "POST", "PUT", "PATCH", "DELETE"} }

// asItWas returns a logged request unchanged, with the personal data that the page does not show.
func asItWas(r prepaidtest.Request) sendForm {
	return sendForm{Method: r.Method, Target: target(r.Path, r.Query), Type: r.Header.Get("Content-Type"), Body: r.Body}
}

// toEdit returns a logged request as the page shows it, for editing.
func toEdit(r prepaidtest.Request) sendForm {
	return sendForm{Method: r.Method, Target: target(r.Path, shownQuery(r.Query)), Type: r.Header.Get("Content-Type"), Body: readable(r.Body)}
}

func target(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// masked reports whether a text has a mask in place of a value. The page sends no masks.
func masked(text string) bool {
	decoded, _ := url.QueryUnescape(text)
	return strings.Contains(text+"\n"+decoded, redacted) || strings.Contains(text+"\n"+decoded, concealed)
}

const (
	redacted = "[REDACTED]" // in the log
	keptBody = 16 << 10     // the log cuts longer ones
	sendTime = time.Minute
)

// incomplete returns the reason why the logged request cannot be sent unchanged, or an empty string.
func (f sendForm) incomplete() string {
	switch {
	case len(f.Body) >= keptBody:
		return "Its body is too long to be kept whole."
	case strings.Contains(f.Body, redacted), strings.Contains(f.Target, url.QueryEscape(redacted)):
		return "It holds secrets, which are not kept."
	}
	return ""
}

// check returns the address of the form on this emulator, or the reason why the form cannot be sent.
func (f sendForm) check() (address *url.URL, problem string) {
	address, err := url.ParseRequestURI(f.Target)
	switch {
	case !slices.Contains(methods(), f.Method):
		return nil, "Choose a method."
	case err != nil || address.Host != "" || address.Scheme != "" || !strings.HasPrefix(address.Path, "/3.0/"):
		return nil, "The path must begin with /3.0/."
	case strings.ContainsFunc(f.Type, func(r rune) bool { return r < ' ' || r > '~' }):
		return nil, "The content type must be one line of plain text."
	case f.Edited && (masked(f.Target) || masked(f.Body)):
		return nil, "Fill in what is masked."
	}
	return address, ""
}

type sentJSON struct {
	Request int64 `json:"request"` // 0 if it is still running
	Status  int   `json:"status"`
}

func (p *Page) sendAgain(w http.ResponseWriter, r *http.Request) {
	list, i := p.logged(w, r)
	if i < 0 {
		return
	}
	form := asItWas(list[i])
	problem := form.incomplete()
	if r.PostForm.Has("path") {
		form = sendForm{r.PostFormValue("method"), r.PostFormValue("path"), r.PostFormValue("type"), lines(r.PostFormValue("body")), true}
		problem = ""
	}
	var sent prepaidtest.Request
	if problem == "" {
		sent, problem = p.send(r, list[i], form)
	}
	switch {
	case problem != "":
		p.showRequest(w, r, http.StatusUnprocessableEntity, list, i, form, problem)
	case sent.Number == 0:
		done(w, r, "/requests", "sent", sentJSON{})
	default:
		done(w, r, fmt.Sprintf("/requests/%d", sent.Number), "sent", sentJSON{sent.Number, sent.Status})
	}
}

// lines restores the line ends that a browser changes in a form.
func lines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// send sends the form's request only to the address at which this emulator got r, and returns the new request from the
// log. If the original had an Authorization header, the new request gets valid credentials.
func (p *Page) send(r *http.Request, original prepaidtest.Request, form sendForm) (sent prepaidtest.Request, problem string) {
	address, problem := form.check()
	here, known := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if problem != "" || !known {
		return sent, problem
	}
	address.Scheme, address.Host = "http", here.String()
	ctx, cancel := context.WithTimeout(r.Context(), sendTime)
	defer cancel()
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, here.Network(), here.String())
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	request, err := http.NewRequestWithContext(ctx, form.Method, address.String(), strings.NewReader(form.Body))
	if err != nil {
		return sent, "The request cannot be sent."
	}
	credentials := p.server.Load().Config()
	if original.Header.Get("Authorization") != "" {
		if request.SetBasicAuth(credentials.ClientID, credentials.ClientSecret.Reveal()); !strings.HasSuffix(address.Path, "/token") {
			token, err := newToken(ctx, client, address, credentials)
			if err != nil {
				return sent, "The emulator issued no token for it. Is a fault armed for POST /token?"
			}
			request.Header.Set("Authorization", "Bearer "+token)
		}
	}
	agent := fmt.Sprintf("prepaid-emulator (request %d again)", original.Number)
	request.Header.Set("User-Agent", agent)
	for name, value := range map[string]string{"Content-Type": form.Type, "Accept": original.Header.Get("Accept")} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	last := newestRequests(p.server.Load())[0].Number // the log has at least the original
	if response, err := client.Do(request); err == nil {
		_, _ = io.Copy(io.Discard, response.Body) // a fault may cut the response
		_ = response.Body.Close()
	}
	for _, one := range newestRequests(p.server.Load()) {
		if one.Number > last && one.Header.Get("User-Agent") == agent {
			return one, ""
		}
	}
	return sent, ""
}

// newToken gets an access token as any client does.
func newToken(ctx context.Context, client *http.Client, address *url.URL, credentials prepaid.Config) (string, error) {
	at := url.URL{Scheme: address.Scheme, Host: address.Host, Path: "/3.0/token"}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), strings.NewReader("grant_type=client_credentials"))
	if err != nil {
		return "", err
	}
	request.SetBasicAuth(credentials.ClientID, credentials.ClientSecret.Reveal())
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("User-Agent", "prepaid-emulator (token)")
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	var body struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil || body.Token == "" {
		return "", errors.Join(err, errors.New("no token"))
	}
	return body.Token, nil
}

type messageData struct {
	Hook       prepaidtest.HookState
	ID         prepaid.MessageID
	Type, Body string
	Entered    string
	Edited     bool
}

// sentMessage finds the newest message with the id in the query or form, and its webhook. Without such a message, it responds with 404.
func (p *Page) sentMessage(w http.ResponseWriter, r *http.Request) (data messageData, ok bool) {
	server, id := p.server.Load(), prepaid.MessageID(r.FormValue("id"))
	hooks := server.Hooks()
	if i := slices.IndexFunc(hooks, func(hook prepaidtest.HookState) bool { return string(hook.ID) == r.PathValue("id") }); i >= 0 {
		data = messageData{Hook: hooks[i], ID: id}
	}
	for _, message := range data.Hook.Undeliverable {
		if message.ID == id {
			data.Type, data.Body = message.Type, message.Body
		}
	}
	for _, sent := range server.Deliveries() {
		if sent.HookID == data.Hook.ID && sent.MessageID == id {
			data.Type, data.Body = sent.Type, sent.Body
		}
	}
	data.Hook.URI = plain(data.Hook.URI)
	if data.Body == "" {
		p.notFound(w, r, "There is no such message, or the log no longer reaches back to it.")
	}
	return data, data.Body != ""
}

func (p *Page) message(w http.ResponseWriter, r *http.Request) {
	if data, ok := p.sentMessage(w, r); ok {
		p.showMessage(w, r, http.StatusOK, data, "")
	}
}

func (p *Page) showMessage(w http.ResponseWriter, r *http.Request, status int, data messageData, problem string) {
	data.Body = readable(data.Body)
	if !data.Edited {
		data.Entered = data.Body
	}
	p.show(w, r, status, "message", layout{Title: "Message " + short(data.ID), Section: "webhooks", Data: data, Problem: problem, Live: messagePath(data)})
}

func messagePath(data messageData) string {
	return "/webhooks/" + url.PathEscape(string(data.Hook.ID)) + "/message?id=" + url.QueryEscape(string(data.ID))
}

// sendMessage queues a message for its webhook once more. Only the hook's registered address gets the message.
func (p *Page) sendMessage(w http.ResponseWriter, r *http.Request) {
	data, ok := p.sentMessage(w, r)
	if !ok {
		return
	}
	body := data.Body
	if data.Edited = r.PostForm.Has("body"); data.Edited {
		body = lines(r.PostFormValue("body"))
		data.Entered = body
	}
	switch {
	case !data.Hook.Enabled:
		p.showMessage(w, r, http.StatusUnprocessableEntity, data, "The webhook is disabled, and gets no messages.")
	case data.Edited && masked(body):
		p.showMessage(w, r, http.StatusUnprocessableEntity, data, "Fill in what is masked.")
	case p.server.Load().Deliver(data.Hook.ID, body) != nil:
		p.showMessage(w, r, http.StatusUnprocessableEntity, data, "The message must be a JSON object with the texts id and type.")
	default:
		done(w, r, "/webhooks/"+url.PathEscape(string(data.Hook.ID)), "queued", map[string]prepaid.MessageID{"message_id": data.ID})
	}
}
