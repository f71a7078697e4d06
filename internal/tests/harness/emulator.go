package harness

import (
	"github.com/cardprograms/prepaid"
)

const TransferOperation = "POST /accounts/{id}/transfer"

// TransferTo returns params with every field set and their own request id.
func TransferTo(to prepaid.AccountID, amount string) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount(amount), DestinationAccountID: to,
		SourceReference: "PAYROLL 2026-11", DestinationReference: "SALARY", Type: prepaid.TransferTypeLoad, InitiatorUsername: "batch",
	}
}
