package prepaidtest

import (
	"fmt"
	"io"
)

// Load adds the content of a JSON document to the server, for example
//
//	{"companies": [{"id": 7, "client_id": "globex", "loop": "closed", "categories": [5411]}],
//	 "accounts": [{"account_id": "emp-1", "company_id": 7, "balance": 25.50, "status": "active"}]}
//
// The document is an object with up to four lists: companies with their policy rules; accounts with their
// registration, history and wallet tokens; reports with a fixed text; and hooks. docs/emulator-seed.md describes the
// members.
//
// An existing company gets the data of the document and keeps its accounts and policy rules. An existing report
// template is replaced. An existing account is an error. Load sends neither messages nor pings to hooks.
//
// The error names the path of each invalid member, such as accounts[3].status, and the broken rule, never a value.
// If there is an error, Load adds nothing.
func (s *Server) Load(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("prepaidtest: read the seed document: %w", err)
	}
	return s.service.Load(raw)
}
