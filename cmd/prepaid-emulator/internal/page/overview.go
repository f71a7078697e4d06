package page

import (
	"net/http"
	"slices"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

type overviewData struct {
	Accounts      []prepaidtest.AccountState
	AccountsTotal int
	Requests      requestsTable
	RequestsTotal int
	Failed        int
	Hooks         int
	Undeliverable int
	Faults        []prepaidtest.ArmedFault
}

const (
	overviewAccounts = 12
	overviewRequests = 12
)

func (p *Page) overview(w http.ResponseWriter, r *http.Request) {
	server := p.server.Load()
	ids, requests, hooks := server.AccountIDs(), newestRequests(server), server.Hooks()
	data := overviewData{
		AccountsTotal: len(ids), RequestsTotal: len(requests), Hooks: len(hooks), Faults: server.Faults(),
		Accounts: accountStates(server, ids[:min(len(ids), overviewAccounts)]), Requests: p.table(requests[:min(len(requests), overviewRequests)], ""),
	}
	data.Requests.Compact = true
	for _, request := range requests {
		if failed(request) {
			data.Failed++
		}
	}
	for _, hook := range hooks {
		data.Undeliverable += len(hook.Undeliverable)
	}
	p.show(w, r, http.StatusOK, "overview", layout{Title: "Overview", Section: "overview", Data: data})
}

func newestRequests(server *prepaidtest.Server) []prepaidtest.Request {
	requests := server.Requests()
	slices.Reverse(requests)
	return requests
}

func accountStates(server *prepaidtest.Server, ids []prepaid.AccountID) []prepaidtest.AccountState {
	states := make([]prepaidtest.AccountState, len(ids))
	for i, id := range ids {
		states[i] = server.Account(id)
	}
	return states
}
