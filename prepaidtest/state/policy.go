package state

// PolicyMerchant is a card acceptor that a policy lists (2.10).
type PolicyMerchant struct {
	// AcquirerID is acquirer_id.
	AcquirerID int64 `json:"acquirer_id"`
	// CardAcceptorID is card_acceptor_id.
	CardAcceptorID string `json:"card_acceptor_id"`
	// Description is the caller's text.
	Description string `json:"description"`
	// ID is the number that the service gave the rule.
	ID int64 `json:"id"`
}

// PolicyTerminal is a terminal that a policy lists (2.10).
type PolicyTerminal struct {
	// AcquirerID is acquirer_id.
	AcquirerID int64 `json:"acquirer_id"`
	// CardAcceptorID is card_acceptor_id.
	CardAcceptorID string `json:"card_acceptor_id"`
	// TerminalID is terminal_id.
	TerminalID string `json:"terminal_id"`
	// NameLocation is card_acceptor_name_location, or empty.
	NameLocation string `json:"card_acceptor_name_location,omitzero"`
	// Description is the caller's text, or empty.
	Description string `json:"description,omitzero"`
	// ID is the number that the service gave the rule.
	ID int64 `json:"id"`
}
