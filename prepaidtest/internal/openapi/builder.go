package openapi

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	table "github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// builder puts the document together.
type builder struct {
	with    Options
	schemas wire.Ordered[*wire.Schema]
}

func (b *builder) document() document {
	d := document{
		OpenAPI: "3.1.0", Info: b.info(), Servers: servers(), Security: []wire.Ordered[list]{{{Name: "OAuth2", Value: list{}}}}, Tags: tags(),
	}
	for _, about := range operations(b.with) {
		i := slices.IndexFunc(b.with.Routes, func(r *exchange.Route) bool { return r.Name() == about.name })
		route := b.with.Routes[i]
		at := slices.IndexFunc(d.Paths, func(m wire.Member[*path]) bool { return m.Name == route.Template })
		if at < 0 {
			at = len(d.Paths)
			d.Paths.Put(route.Template, new(path))
		}
		d.Paths[at].Value.Put(strings.ToLower(route.Method), b.operation(route, about))
	}
	d.Webhooks = b.webhooks()
	requests := b.schemas
	b.schemas = responseSchemas(b.with)
	b.schemas.Put("WalletPersonal", clonePersonal(requests.Get("Personal")))
	b.schemas = append(b.schemas, requests...)
	b.annotate()
	b.nameTypes(d.Paths)
	d.Components = components{
		Schemas: b.schemas, Responses: b.commonResponses(), Headers: pageHeaders(), SecuritySchemes: securitySchemes(),
	}
	return d
}

// describe runs the handler of an operation with a call that only describes its input.
func describe(route *exchange.Route) exchange.Description {
	var found exchange.Description
	route.Handle(&exchange.Call{
		Form: new(exchange.Form), Request: &http.Request{Header: http.Header{}, URL: new(url.URL)}, Route: route,
		Params: make([]string, strings.Count(route.Template, "{")), Description: &found,
	})
	return found
}

func (b *builder) operation(route *exchange.Route, about described) *operation {
	reads := describe(route)
	classes := table.All()
	class := slices.IndexFunc(classes, func(o table.Operation) bool { return o.Method == route.Method && o.Path == route.Template })
	made := &operation{
		ID: about.id, Tags: list{sectionTags().Get(about.section)}, Summary: about.summary, Description: about.about, Reference: about.section,
		Emulator: about.own, Deprecated: about.deprecated, Parameters: b.pathParameters(route),
	}
	made.Safety, made.SafetyWhen = safety(classes[class], reads.Body)
	if reads.Query != nil {
		made.Parameters = append(made.Parameters, queryParameters(about.id, reads.Query)...)
	}
	switch {
	case route.Open:
		made.Security = []wire.Ordered[list]{{{Name: "Basic", Value: list{}}}}
		made.Body = &body{Required: true, Content: wire.Ordered[*content]{{Name: "application/x-www-form-urlencoded", Value: &content{tokenForm(), example(about.id)}}}}
	case reads.Body != nil:
		name := strings.ToUpper(about.id[:1]) + about.id[1:] + "Request"
		reads.Body.Reference = requestSection(about.section, about.id)
		b.put(name, reads.Body)
		made.Body = &body{Required: true, Content: wire.Ordered[*content]{{Name: b.with.MediaType, Value: &content{ref(name), example(about.id)}}}}
	}
	made.Responses = b.responses(route, about)
	return made
}

// safety returns the safety class of an operation. If the class depends on the body, it is never, except for the listed values: a program
// that does not know the list, or sends a value that the list does not have, never repeats the request.
func safety(o table.Operation, body *wire.Schema) (string, []safetyWhen) {
	if o.Never == "" {
		return o.Safety, nil
	}
	values := []any{true, false}
	if words := body.Properties.Get(o.Member).Enum; len(words) > 0 {
		values = values[:0]
		for _, word := range words {
			values = append(values, word)
		}
	}
	never := strings.Split(o.Never, ",")
	return "never", []safetyWhen{{o.Member, slices.DeleteFunc(values, func(v any) bool { return slices.Contains(never, fmt.Sprint(v)) }), o.Safety}}
}

// requestSection returns the section in which the reference lists the members of a request.
func requestSection(section, id string) string {
	switch {
	case section == "4.6":
		return "2.15"
	case id == "dismissUndeliverable":
		return "2.14"
	case section == "4.8":
		return "2.13"
	}
	return section
}

func tokenForm() *wire.Schema {
	return object("4.1", "The `client_id` and the `client_secret` are in the Basic header.",
		must("grant_type", word("client_credentials"), ""))
}

// shared returns the name and section of the shared object in a member; empty for any other member.
func shared(member string) (name, section string) {
	switch member {
	case "registration":
		return "Personal", "2.3"
	case "primary_address":
		return "Address", "2.4"
	case "alternate_address":
		return "AlternateAddress", "2.4"
	case "passport":
		return "Passport", "2.5"
	case "portal_identifier":
		return "PortalIdentifier", "2.7"
	case "destination_account_info":
		return "BankAccount", "4.4"
	}
	return "", ""
}

// put adds the schema of a request, and replaces each shared object in it by a $ref.
func (b *builder) put(name string, schema *wire.Schema) {
	if b.schemas.Get(name) != nil {
		return
	}
	b.schemas.Put(name, schema)
	for i, member := range schema.Properties {
		if items := member.Value.Items; items != nil && items.Properties != nil {
			change, _ := strings.CutSuffix(strings.TrimPrefix(name, "ChangePolicy"), "sRequest")
			element := change + map[string]string{"add": "ToAdd", "remove": "ToRemove"}[member.Name]
			items.Reference = schema.Reference
			b.put(element, items)
			member.Value.Items = ref(element)
		}
		inner, section := shared(member.Name)
		if inner == "" {
			continue
		}
		member.Value.Reference = section
		b.put(inner, member.Value)
		schema.Properties[i].Value = ref(inner)
	}
}

func (b *builder) pathParameters(route *exchange.Route) []parameter {
	var all []parameter
	for segment := range strings.SplitSeq(route.Template, "/") {
		name, is := strings.CutPrefix(segment, "{")
		if !is {
			continue
		}
		p := parameter{Name: strings.TrimSuffix(name, "}"), In: "path", Required: true, Schema: text()}
		switch {
		case p.Name == "templatename":
			p.Description = "Template names come from the template management tool."
			p.Emulator = "daily_settlement is built in."
		case p.Name == "reportid":
			p.Description = "As the start of the report returned it."
		case p.Name == "companyid":
			p.Description, p.Schema.Pattern, p.Emulator = "Company (program).", "^[+-]?[0-9]+$", "The reference has a string; it must be a number."
		case p.Name == "provider":
			p.Description = "One of three wallets, by name."
			p.Schema.Enum, p.Emulator = b.with.Wallets, "The reference does not show the names; they are a setting. The first needs nonce, nonce_signature and certificates."
		case strings.HasPrefix(route.Template, "/policy"):
			p.Description, p.Schema = "Program (company).", integer()
		case strings.HasPrefix(route.Template, "/hooks"):
			p.Description = "Webhook, a UUID."
		default:
			p.Description = "EAID of the account."
		}
		all = append(all, p)
	}
	return all
}

func queryParameters(operation string, query *wire.Schema) []parameter {
	all := make([]parameter, 0, len(query.Properties))
	for _, member := range query.Properties {
		p := parameter{Name: member.Name, In: "query", Required: slices.Contains(query.Required, member.Name), Schema: member.Value}
		p.Description, p.Schema.Description = strings.TrimSpace(queryNotes()[member.Name]+" "+p.Schema.Description), ""
		if operation == "searchAccounts" && member.Name == "client_id" {
			p.Description = "Of the program."
		}
		if p.Schema.MinLength > 0 {
			p.Emulator = "Not empty; the reference has no least length."
		}
		if operation == "searchCompanyAccounts" && member.Name == "status" {
			p.Emulator = "It must be a known status; the reference has a string."
		}
		all = append(all, p)
	}
	return all
}

// responses are the responses in section 4 and the common responses.
func (b *builder) responses(route *exchange.Route, about described) wire.Ordered[*response] {
	all := make(map[int]*response)
	for _, r := range about.success {
		all[r.status] = b.success(r)
	}
	refusals := about.refusals
	for _, r := range refusals {
		if r.status == route.BadInput && !slices.Contains(r.codes, "invalid_request") {
			r.also = append(slices.Clone(r.also), "invalid_request")
		}
		if all[r.status] == nil {
			all[r.status] = b.refused(cmp.Or(r.about, aboutStatus(r.status)))
			all[r.status].Emulator = r.why
		}
		all[r.status].Codes = codes(about.section, r)
	}
	for _, status := range []int{route.BadInput, 401, 403, 408, 413, 429, 500} {
		if all[status] == nil {
			all[status] = &response{Ref: "#/components/responses/" + commonName(status)}
		}
	}
	var sorted wire.Ordered[*response]
	for status := range 600 {
		if all[status] != nil {
			sorted.Put(strconv.Itoa(status), all[status])
		}
	}
	return sorted
}

func (b *builder) success(r reply) *response {
	made := &response{Description: r.about, Emulator: r.own}
	if r.paged {
		for _, h := range pageHeaders() {
			made.Headers.Put(h.Name, &header{Ref: "#/components/headers/" + h.Name})
		}
	}
	switch {
	case r.octets:
		made.Content.Put("application/octet-stream", &content{Schema: r.schema})
	case r.schema != nil:
		made.Content.Put(b.with.MediaType, &content{Schema: r.schema})
	}
	return made
}

func (b *builder) refused(about string) *response {
	return &response{Description: about, Content: wire.Ordered[*content]{{Name: b.with.MediaType, Value: &content{Schema: ref("Error")}}}}
}

const invalid = "The request is not valid: error_description names the fields."

func aboutStatus(status int) string {
	switch status {
	case http.StatusBadRequest:
		return invalid
	case http.StatusForbidden:
		return "The caller has no permission on the company, or the address is not on the whitelist."
	case http.StatusNotFound:
		return "Not found."
	}
	return "A run of the template has not finished."
}

// codes has the source of each code: the reference, if it names the code for the operation, or the emulator.
func codes(section string, r refusal) wire.Ordered[string] {
	var all wire.Ordered[string]
	for _, code := range r.codes {
		who := "emulator"
		if r.why == "" && (section == "4.1" || section == "4.8") || strings.HasPrefix(code, "bad_") || code == "server_error" {
			who = "reference"
		}
		all.Put(code, who)
	}
	for _, code := range r.also {
		all.Put(code, "emulator")
	}
	return all
}

func commonName(status int) string {
	return strings.ReplaceAll(http.StatusText(status), " ", "")
}

// commonResponses are the responses that every operation can have.
func (b *builder) commonResponses() wire.Ordered[*response] {
	var all wire.Ordered[*response]
	put := func(status int, about, own, code string) {
		made := b.refused(about)
		made.Emulator, made.Codes = own, codes("", refuse(status, code))
		all.Put(commonName(status), made)
	}
	put(400, invalid,
		"The row of the operation lists no status for input that cannot be used, such as an unknown parameter.", "invalid_request")
	put(401, "The access token is missing, invalid or expired.", "The code is named for webhooks only.", "unauthorized")
	put(403, "The address is not on the whitelist.", "Status and code are not shown.", "forbidden")
	put(408, "The body did not arrive in time.", "Not in the reference.", "invalid_request")
	put(413, "The body is too large.", "Not in the reference.", "invalid_request")
	put(429, "More than 1000 requests in 10 seconds from an address: refused for up to 10 seconds.", "The code is not shown.", "rate_limit_exceeded")
	put(500, "Try again later or contact support.", "Only as an injected fault.", "server_error")
	all.Get("TooManyRequests").Headers.Put("Retry-After", &header{
		Description: "Seconds.", Schema: integer(), Emulator: "Not in the reference; sent by a setting.",
	})
	return all
}

func pageHeaders() wire.Ordered[*header] {
	made := func(name, about string) wire.Member[*header] {
		return wire.Member[*header]{Name: name, Value: &header{Description: about, Required: true, Schema: integer()}}
	}
	return wire.Ordered[*header]{
		made("X-PageSize", "The page size applied, which can differ from page_size."),
		made("X-TotalPages", "Number of pages."), made("X-TotalItems", "Number of items."),
	}
}

// webhooks are the three kinds of message.
func (b *builder) webhooks() wire.Ordered[*path] {
	message := func(id, kind, about string) wire.Member[*path] {
		made := &operation{
			ID: id, Summary: about, Reference: "6", Responses: wire.Ordered[*response]{{Name: "2XX", Value: &response{Description: "The message has arrived."}}},
			Body:     &body{Required: true, Content: wire.Ordered[*content]{{Name: b.with.MediaType, Value: &content{Schema: ref("Message")}}}},
			Emulator: "Retries and time-outs are not shown.", Security: []wire.Ordered[list]{{}},
		}
		for name, what := range map[string]string{b.with.SignatureKey: "The hmac_key_id.", b.with.Signature: "HMAC-SHA256 of the body."} {
			if name != "" {
				made.Parameters = append(made.Parameters, parameter{
					Name: name, In: "header", Description: what, Schema: text(), Emulator: "The signature of messages is not shown; header and form are settings.",
				})
			}
		}
		slices.SortFunc(made.Parameters, func(a, b parameter) int { return strings.Compare(a.Name, b.Name) })
		return wire.Member[*path]{Name: kind, Value: &path{{Name: "post", Value: made}}}
	}
	return wire.Ordered[*path]{
		message("transactionMessage", "transaction", "A transaction of a company in the scope that passes the filter."),
		message("pingMessage", b.with.PingType, "A ping when a webhook is registered or changed with enabled true. It must succeed, or the change is 400 no_response."),
		message("undeliverableAlert", b.with.AlertType, "Undeliverable messages are not dismissed."),
	}
}

func securitySchemes() wire.Ordered[*scheme] {
	return wire.Ordered[*scheme]{
		{Name: "OAuth2", Value: &scheme{
			Type: "oauth2", Description: "Bearer token of POST /token (section 5). Renew it when less than 10 minutes remain, and after a 401.",
			Flows: wire.Ordered[*flow]{{Name: "clientCredentials", Value: &flow{TokenURL: "/3.0/token", Scopes: wire.Ordered[string]{}}}},
		}},
		{Name: "Basic", Value: &scheme{
			Type: "http", Scheme: "basic",
			Description: "Client ID and client secret of POST /token, in Base64 of RFC 2045; neither is escaped before.",
		}},
	}
}
