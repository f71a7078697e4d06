package page

import (
	"net/http"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

type accountsData struct {
	Accounts []prepaidtest.AccountState
	Statuses []string
	Status   string // of the filter
	Text     string // of the filter
	All      int
	Pager    pager
}

const listSize = 50

// accounts lists the accounts that have the selected status and all search words, each as part of an id, key, card
// number or name. The list shows no names: personal data is on the account's page only.
func (p *Page) accounts(w http.ResponseWriter, r *http.Request) {
	server := p.server.Load()
	query := r.URL.Query()
	data := accountsData{Statuses: prepaidtest.AccountStatuses(), Status: query.Get("status"), Text: strings.TrimSpace(query.Get("text"))}
	ids := server.AccountIDs()
	data.All = len(ids)
	if data.Status != "" || data.Text != "" {
		ids = slices.DeleteFunc(ids, func(id prepaid.AccountID) bool { return !data.matches(server.Account(id)) })
	}
	ids, data.Pager = paginate(r, ids, listSize)
	data.Accounts = accountStates(server, ids)
	p.show(w, r, http.StatusOK, "accounts", layout{Title: "Accounts", Section: "accounts", Data: data})
}

func (d accountsData) matches(a prepaidtest.AccountState) bool {
	if d.Status != "" && a.Status != d.Status {
		return false
	}
	holder := a.Cardholder
	places := strings.ToLower(strings.Join([]string{
		string(a.ID), a.ExternalID, a.Key, a.CardNumber, a.DisplayName, a.NameOnCard, holder.FirstName, holder.MiddleName, holder.LastName,
	}, "\n"))
	for word := range strings.FieldsSeq(strings.ToLower(d.Text)) {
		if !strings.Contains(places, word) {
			return false
		}
	}
	return true
}
