package prepaid

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/number"
)

// ErrTransactionIDSyntax means that a transaction id came as a JSON value that is neither a number nor a string,
// or that one was to be sent as a number and is none.
var ErrTransactionIDSyntax = errors.New("prepaid: transaction id: not a number or string")

// AccountID is the id of a card account: its External Account Id (EAID), account_id on the wire. It is not the
// account's external_account_id. The zero value is no account.
type AccountID string

// CompanyID is the id of a program (company), the owner of card accounts and of one policy. The zero value is
// none.
type CompanyID int64

// TransactionID is the id of a ledger transaction. The service gives it as a number in some answers and as a
// string in others; both are read as text, so that no digit is lost whatever its length. Each call sends the
// form that its operation asks for; on its own it is a JSON string. The zero value is no transaction.
type TransactionID string

// UnmarshalJSON reads a number or a string. An integer is kept in its plain form, 12 for 12.0 and 1.2e1; any
// other text is kept as it came. JSON null is the empty id.
//
// Errors: [ErrTransactionIDSyntax] for a boolean, array or object.
func (id *TransactionID) UnmarshalJSON(data []byte) error {
	switch kind, text := number.Scalar(data); kind {
	case number.Null:
		*id = ""
		return nil
	case number.String:
		*id = TransactionID(text)
		return nil
	case number.Number:
		if integer, ok := number.Integer(text); ok {
			*id = TransactionID(integer)
			return nil
		}
	}
	return ErrTransactionIDSyntax
}

// numeric reports whether id can be sent as a JSON number and stay the same text.
func (id TransactionID) numeric() bool {
	digits := id
	if len(id) > 0 && id[0] == '-' {
		digits = id[1:]
	}
	return ascii.IsDigits(string(digits)) && (digits[0] != '0' || id == "0")
}

// transactionNumber is a TransactionID where the service wants a number. It refuses an id that is not numeric.
type transactionNumber TransactionID

var _ json.Marshaler = transactionNumber("")

// MarshalJSON writes the id as a JSON number.
func (n transactionNumber) MarshalJSON() ([]byte, error) {
	if !TransactionID(n).numeric() {
		return nil, ErrTransactionIDSyntax
	}
	return []byte(n), nil
}

// String returns the id in decimal.
func (id CompanyID) String() string { return strconv.FormatInt(int64(id), 10) }
