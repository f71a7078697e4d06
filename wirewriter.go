package prepaid

import (
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// wireWriter writes the bodies of payments as encodeOptions do, member by member, without reflection. What it cannot
// write makes it odd, and the body is encoded with encodeOptions, which then say why.
type wireWriter struct {
	body []byte
	odd  bool
}

// wireWritable is a body that is written so.
type wireWritable interface{ writeWire(w *wireWriter) }

// name starts a member.
func (w *wireWriter) name(name string) {
	if len(w.body) > 0 && w.body[len(w.body)-1] != '{' {
		w.body = append(w.body, ',')
	}
	w.body = append(append(append(w.body, '"'), name...), `":`...)
}

// text writes a member that is a string.
func (w *wireWriter) text(name, value string) {
	w.name(name)
	if plainLength([]byte(value)) == len(value) {
		w.body = append(append(append(w.body, '"'), value...), '"')
		return
	}
	body, err := jsontext.AppendQuote(w.body, value)
	w.body, w.odd = body, w.odd || err != nil
}

func (w *wireWriter) amount(name string, value Amount) {
	w.name(name)
	w.body = value.appendPlain(w.body)
}

// wireWriters are kept; the bodies are not, for a transport may hold one longer than its call.
var wireWriters = sync.Pool{New: func() any { return new(wireWriter) }}

// writeWire writes body; false when encodeOptions must do it.
func writeWire(body wireWritable) ([]byte, bool) {
	w := wireWriters.Get().(*wireWriter)
	w.body = append(make([]byte, 0, 256), '{')
	body.writeWire(w)
	w.body = append(w.body, '}')
	written, odd := w.body, w.odd
	*w = wireWriter{}
	wireWriters.Put(w)
	return written, !odd
}

func (p TransferParams) writeWire(w *wireWriter) {
	w.text("request_id", string(p.RequestID))
	w.amount("amount", p.Amount)
	w.text("source_reference", p.SourceReference)
	w.text("destination_reference", p.DestinationReference)
	w.text("destination_account_id", string(p.DestinationAccountID))
	w.name("transaction_type")
	w.body = strconv.AppendInt(w.body, int64(p.Type), 10)
	if p.InitiatorUsername != "" {
		w.text("initiator_username", p.InitiatorUsername)
	}
}

func (p DirectEntryOutParams) writeWire(w *wireWriter) {
	w.text("request_id", string(p.RequestID))
	w.amount("amount", p.Amount)
	w.text("source_reference", p.SourceReference)
	w.text("destination_reference", p.DestinationReference)
	w.name("destination_account_info")
	w.body = append(w.body, '{')
	w.text("bsb", p.Destination.BSB)
	w.text("account_number", p.Destination.AccountNumber)
	w.text("account_name", p.Destination.AccountName)
	w.body = append(w.body, '}')
	w.text("bsb", p.BSB)
	if p.InitiatingUserID != "" {
		w.text("initiating_user_id", p.InitiatingUserID)
	}
}
