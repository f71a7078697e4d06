package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/cardprograms/prepaid"
)

const header = "prepaid-journal 1\n"

// State says how far a payment has come. The zero value is no state.
type State string

const (
	// StateIntended: it was about to be sent. Found after a crash, it may have been.
	StateIntended State = "intended"
	// StateNotSent: nothing moved, for a passing reason.
	StateNotSent State = "not_sent"
	// StateUnknown: it may have been applied.
	StateUnknown State = "unknown"
	// StateDone: the money moved.
	StateDone State = "done"
	// StateRejected: the service refused it, nothing moved.
	StateRejected State = "rejected"
)

// Entry is what is known of one payment. The zero value is none.
type Entry struct {
	// RequestID is the key of the payment.
	RequestID prepaid.RequestID `json:"request_id"`
	// Operation is "Accounts.Transfer" or "Accounts.DirectEntryOut".
	Operation string `json:"operation"`
	// AccountID is the account that pays.
	AccountID prepaid.AccountID `json:"account_id"`
	// Amount is in currency units.
	Amount prepaid.Amount `json:"amount"`
	// Destination is the digest of the destination, in hex.
	Destination string `json:"destination"`
	// Params is the digest of all params, in hex.
	Params string `json:"params"`
	// State is how far it has come.
	State State `json:"state"`
	// Began is when it was first intended, UTC.
	Began time.Time `json:"began"`
	// Changed is when this state was written, UTC.
	Changed time.Time `json:"changed"`
	// Runs counts the calls that were about to send it.
	Runs int `json:"runs"`
	// TransactionID is the movement's, when done.
	TransactionID prepaid.TransactionID `json:"transaction_id,omitzero"`
	// CorrelationID is the service's, when it answered with one.
	CorrelationID string `json:"correlation_id,omitzero"`
	// Code is the service's error code, when rejected with one.
	Code prepaid.ErrorCode `json:"code,omitzero"`
}

// open reports whether the payment may have been applied without our knowing.
func (e Entry) open() bool { return e.State == StateIntended || e.State == StateUnknown }

func encode(e Entry) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%08x %08x %s\n", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)), len(body), body), nil
}

// decode reads a line without its end.
func decode(line []byte) (e Entry, ok bool) {
	const prefix = 18
	if len(line) < prefix {
		return e, false
	}
	body := line[prefix:]
	want := fmt.Appendf(nil, "%08x %08x ", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)), len(body))
	if !bytes.Equal(line[:prefix], want) || json.Unmarshal(body, &e) != nil {
		return Entry{}, false
	}
	switch e.State {
	case StateIntended, StateNotSent, StateUnknown, StateDone, StateRejected:
		return e, e.RequestID != ""
	}
	return Entry{}, false
}

// scan reads a file's content. good is how much of it stands; what follows is a torn end.
func scan(data []byte) (entries []Entry, good int, err error) {
	if len(data) < len(header) && bytes.HasPrefix([]byte(header), data) {
		return nil, 0, nil
	}
	if !bytes.HasPrefix(data, []byte(header)) {
		return nil, 0, &CorruptError{Line: 1}
	}
	good = len(header)
	for line := 2; ; line++ {
		end := bytes.IndexByte(data[good:], '\n')
		if end < 0 {
			return entries, good, nil
		}
		e, ok := decode(data[good : good+end])
		if !ok {
			return nil, 0, &CorruptError{Line: line, Offset: int64(good)}
		}
		entries = append(entries, e)
		good += end + 1
	}
}
