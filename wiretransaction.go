package prepaid

import "github.com/go-json-experiment/json/jsontext"

func (t *Transaction) readWire(r *wireReader) {
	t.startUnset()
	for name, ok := r.first(); ok; name, ok = r.next() {
		switch string(name) {
		case "id":
			r.identifier(&t.ID)
		case "parent_id":
			r.identifier(&t.ParentID)
		case "account_id":
			r.text((*string)(&t.AccountID))
		case "type":
			r.transactionType(&t.Type)
		case "type_description":
			r.text(&t.TypeDescription)
		case "amount":
			r.amount(&t.Amount)
		case "amount_currency":
			r.text(&t.AmountCurrency)
		case "fee_amount":
			r.amount(&t.FeeAmount)
		case "fee_amount_currency":
			r.text(&t.FeeAmountCurrency)
		case "running_balance_amount":
			r.amount(&t.RunningBalance)
		case "running_balance_amount_currency":
			r.text(&t.RunningBalanceCurrency)
		case "occurred_at":
			r.time(&t.OccurredAt)
		case "card_acceptor_id":
			r.text(&t.CardAcceptorID)
		case "terminal_id":
			r.text(&t.TerminalID)
		case "acquirer_id":
			r.text(&t.AcquirerID)
		case "merchant_category_code":
			r.category(&t.MerchantCategoryCode)
		case "reference":
			r.text(&t.Reference)
		default:
			r.skip(0)
		}
	}
}

// transferAnswer is the answer to a movement of money, before it is told whether one was made. TransactionID shares
// memory with the answer.
type transferAnswer struct {
	TransactionID jsontext.Value `json:"transaction_id"`
	CorrelationID *string        `json:"correlation_id"`
}

func (t *transferAnswer) readWire(r *wireReader) {
	for name, ok := r.first(); ok; name, ok = r.next() {
		switch string(name) {
		case "transaction_id":
			r.peek()
			start := r.pos
			r.skip(0)
			t.TransactionID = r.data[start:r.pos]
		case "correlation_id":
			readOptional(r, &t.CorrelationID, (*wireReader).text)
		default:
			r.skip(0)
		}
	}
}
