package prepaid

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/number"
	"github.com/cardprograms/prepaid/internal/wire"
)

//go:generate go run ./internal/wiregen -w

// What is read and written on the fast path of JSON: what arrives in lists or in large numbers, and payments. wire_gen.go is
// made for these types, and for the structs in them, from their tags. The methods below are of types whose form is more than
// their members.
var (
	_ = []wireReadable{
		(*Account)(nil), (*AccountSummary)(nil), (*plainCardholder)(nil), (*Transaction)(nil), (*transferResponse)(nil),
		(*WalletToken)(nil), (*walletDeviceMembers)(nil), (*Hook)(nil), (*messageEnvelope)(nil), (*MerchantCategory)(nil),
	}
	_ = []wireWritable{TransferParams{}, DirectEntryOutParams{}}
)

// decode reads an account whose balance must not read as zero for want of one.
func (a *Account) decode(d *jsontext.Decoder) error {
	type plain Account
	a.startUnset()
	return json.UnmarshalDecode(d, (*plain)(a))
}

// decode is that of an Account.
func (a *AccountSummary) decode(d *jsontext.Decoder) error {
	type plain AccountSummary
	a.startUnset()
	return json.UnmarshalDecode(d, (*plain)(a))
}

// decode reads a transaction whose amounts must not read as zero for want of one.
func (t *Transaction) decode(d *jsontext.Decoder) error {
	type plain Transaction
	t.startUnset()
	return json.UnmarshalDecode(d, (*plain)(t))
}

// readWire reads a number, or one in quotes. Null leaves what is there.
func (a *Amount) readWire(r *wire.Reader) {
	if r.Null() {
		return
	}
	text, quoted := r.PlainText()
	if !quoted {
		text = r.Number()
	}
	if a.set(number.Parse(text, !quoted)) != nil {
		r.Fallback()
	}
}

func (a Amount) writeWire(w *wire.Writer) { w.Append(a.appendPlain) }

// readWire reads a calendar date. Null is no date.
func (d *Date) readWire(r *wire.Reader) {
	if r.Null() {
		*d = Date{}
		return
	}
	text, ok := r.PlainText()
	if !ok || d.UnmarshalText(text) != nil {
		r.Fallback()
		return
	}
	const day = len("YYYY-MM-DD")
	if len(text) != len(wire.TimeLayout) || string(text[day:]) != "T00:00:00Z" {
		r.Inexact()
	}
}

// readWire reads a string or a number.
func (id *TransactionID) readWire(r *wire.Reader) {
	text, _ := r.StringOrInteger()
	r.Set((*string)(id), text)
}

// readWire reads a string or a number, either of which may have lost its leading zeros.
func (m *MCC) readWire(r *wire.Reader) {
	text, _ := r.StringOrInteger()
	setCode(r, (*string)(m), text)
}

// readWire reads a string as it is, or a number, which may have lost its leading zeros.
func (t *TransactionType) readWire(r *wire.Reader) {
	if text, bare := r.StringOrInteger(); bare {
		setCode(r, (*string)(t), text)
	} else {
		r.Set((*string)(t), text)
	}
}

func setCode(r *wire.Reader, to *string, text []byte) {
	if len(text) < 4 {
		text = []byte(padCode(string(text)))
	}
	r.Set(to, text)
}

// readWire reads a registration, of which more may have to be kept than its values.
func (c *Cardholder) readWire(r *wire.Reader) {
	r.Record(receivedCardholder{c}, (*plainCardholder)(c).readWire)
}

// receivedCardholder keeps what a registration was read from.
type receivedCardholder struct{ *Cardholder }

func (c receivedCardholder) Record(raw []byte, exact bool) { c.keep(raw, exact) }

// readWire reads a device, of which nothing stays that came before, as [WalletDevice.UnmarshalJSON] does.
func (d *WalletDevice) readWire(r *wire.Reader) {
	members := &walletDeviceMembers{}
	if !r.Null() {
		members.readWire(r)
		r.FlushStrings()
	}
	*d = members.device()
}

// readWire keeps what is there.
func (t *firstText) readWire(r *wire.Reader) { wire.FirstText((*string)(t), r) }

// readWire reads the envelope and keeps a copy of the whole.
func (m *Message) readWire(r *wire.Reader) {
	m.Raw = bytes.Clone(r.Raw((*messageEnvelope)(m).readWire))
}
