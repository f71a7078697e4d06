package main

import (
	"fmt"
	"io"
	"math/big"
	"net"
	"net/url"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/page"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// greet prints the addresses and credentials, and two commands to start with.
func (s *settings) greet(out io.Writer, server *prepaidtest.Server, goesOn bool) {
	base := reachable(server.URL)
	row := func(name, value string) { fmt.Fprintf(out, "  %-12s %s\n", name, value) }

	fmt.Fprintf(out, "prepaid-emulator %s\n\n", version())
	row("Service", base)
	row("Page", strings.TrimSuffix(base, "3.0/"))
	row("Client", s.ClientID+" with secret "+s.ClientSecret)
	row("Media type", "application/vnd."+s.Vendor+"+json")
	for _, company := range server.Companies() {
		row("Company", describe(server, company))
	}
	for _, a := range server.Faults() {
		row("Fault", a.Operation+": "+a.Fault.String())
	}
	for _, a := range server.DeliveryFaults() {
		row("Hook fault", a.Fault.String())
	}
	if goesOn {
		row("Note", "continuing the state file: -seed and -start-at have no effect")
	}
	company, float := payer(server)
	fmt.Fprintf(out, "\nTry:\n\n  TOKEN=$(curl -s -u %s -d grant_type=client_credentials %s | sed 's/.*\"access_token\":\"\\([^\"]*\\)\".*/\\1/')\n",
		page.Quote(s.ClientID+":"+s.ClientSecret), page.Quote(base+"token"))
	path := "policy/mccodes?page_size=5"
	if float != "" {
		path = "accounts/" + url.PathEscape(string(float))
	}
	fmt.Fprintf(out, "  curl -s -H \"Authorization: Bearer $TOKEN\" %s\n\n", page.Quote(base+path))
	export := func(name, value string) { fmt.Fprintf(out, "  export %s=%s\n", name, page.Quote(value)) }
	fmt.Fprint(out, "For a program that uses prepaid.ConfigFromEnv:\n\n")
	export("PREPAID_BASE_URL", base)
	export("PREPAID_VENDOR", s.Vendor)
	export("PREPAID_CLIENT_ID", s.ClientID)
	export("PREPAID_CLIENT_SECRET", s.ClientSecret)
	if s.Production {
		export("PREPAID_ENVIRONMENT", "production")
	} else {
		export("PREPAID_ENVIRONMENT", "test")
		export("PREPAID_SHOW_DESCRIPTIONS", "true")
		if float != "" {
			fmt.Fprint(out, "\nAnd for the programs in examples/:\n\n")
			export("COMPANY_ID", company.ID.String())
			export("PROGRAM_CLIENT_ID", company.ClientID)
			export("FLOAT_ACCOUNT", string(float))
			export("REPORT_TEMPLATE", prepaidtest.DailySettlement)
		}
	}
	fmt.Fprint(out, "\nCtrl+C stops it.\n")
}

// payer returns the first company with an account that can pay others, and the richest account of that company.
// Without such a company, both results are empty.
func payer(server *prepaidtest.Server) (company prepaidtest.Company, float prepaid.AccountID) {
	for _, company := range server.Companies() {
		most := new(big.Rat)
		for _, id := range server.CompanyAccountIDs(company.ID) {
			account := server.Account(id)
			balance, ok := new(big.Rat).SetString(account.Balance)
			if ok && company.ClientID != "" && account.Status == "active" && balance.Cmp(most) > 0 {
				most, float = balance, id
			}
		}
		if float != "" {
			return company, float
		}
	}
	return prepaidtest.Company{}, ""
}

// describe describes a company and its first accounts.
func describe(server *prepaidtest.Server, company prepaidtest.Company) string {
	ids := server.CompanyAccountIDs(company.ID)
	text := []string{fmt.Sprintf("%s (%s), accounts: %d", company.ID, company.ClientID, len(ids))}
	for _, id := range ids[:min(len(ids), 3)] {
		text = append(text, string(id))
	}
	return strings.Join(text, ", ")
}

// reachable returns base with a host that a client can connect to, even if base has the address for all interfaces.
func reachable(base string) string {
	parsed, err := url.Parse(base)
	if err != nil {
		return base
	}
	if ip := net.ParseIP(parsed.Hostname()); parsed.Hostname() == "" || ip.IsUnspecified() {
		parsed.Host = net.JoinHostPort("127.0.0.1", parsed.Port())
	}
	return parsed.String()
}
