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
// registration, history and wallet tokens; reports with a fixed text; and hooks. docs/emulator-seed.md has every
// member with its limits and default.
//
// A company that exists takes the data of the document and keeps its accounts and policy rules. A report template
// that exists is replaced. An account that exists is a fault. Nothing that Load adds is announced to hooks, and
// hooks are not pinged.
//
// The error names every faulty member with its path, such as accounts[3].status, and the rule it breaks, and never a
// value. Nothing at all is added when anything is wrong.
func (s *Server) Load(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("prepaidtest: read the seed document: %w", err)
	}
	return s.service.Load(raw)
}
