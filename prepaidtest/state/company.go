package state

// Loop is the kind of policy that a company has.
type Loop string

const (
	// OpenLoop allows by default; listed rules block. It is the zero value.
	OpenLoop Loop = ""
	// ClosedLoop denies by default; listed rules allow.
	ClosedLoop Loop = "closed"
	// NoPolicy means that the company has no policy configured: its policy operations respond with 404, and the
	// simulator checks no policy.
	NoPolicy Loop = "none"
)

// Company is a program that owns accounts.
type Company struct {
	// ID is the company id; required.
	ID CompanyID `json:"id"`
	// ClientID is the client_id of the company's accounts, also in searches.
	ClientID string `json:"client_id"`
	// ProgramID is a program_id with which the company search finds all accounts of the company. The search also finds an
	// account by the program_id of its portal identifier.
	ProgramID string `json:"program_id"`
	// ProductType is the product type of new accounts: reloadable, gift or loyalty. Empty means reloadable.
	ProductType string `json:"product_type"`
	// Loop is the kind of policy.
	Loop Loop `json:"loop"`
}
