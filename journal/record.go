package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cardprograms/prepaid"
)

const header = "prepaid-journal 1\n"

// State says how far a payment has come. The zero value is no state.
type State string

const (
	// StateIntended: it was about to be sent. Found after a crash, it may have been.
	StateIntended State = "intended"
	// StateNotSent: nothing moved, and the request itself was not at fault: it can be sent once the cause is gone.
	StateNotSent State = "not_sent"
	// StateUnknown: it may have been applied.
	StateUnknown State = "unknown"
	// StateDone: the money moved.
	StateDone State = "done"
	// StateRejected: nothing moved, because the service or a check refused it or, see [Entry], by a [Resolution]. Called
	// again, it is sent again.
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
	// Runs counts the calls that may have sent it: those that were about to, but for the ones that ended with
	// [prepaid.ErrRequestIDExpired]. 0 when this journal has never sent it.
	Runs int `json:"runs"`
	// FirstSent is when the first request may have left, UTC; zero when not known. It comes from the
	// [prepaid.CallError] of a run that failed, as do LastSent and Attempts: a run that succeeded or whose process
	// died adds nothing to the three.
	FirstSent time.Time `json:"first_sent,omitzero"`
	// LastSent is when the last request may have left, UTC; zero when not known.
	LastSent time.Time `json:"last_sent,omitzero"`
	// Attempts counts the requests that may have left, in all runs whose number is known.
	Attempts int `json:"attempts,omitzero"`
	// NotBefore is when a payment of unknown outcome may be sent again, UTC: [prepaid.CallError].NotBefore of its last
	// run. It is kept when [NotMoved] resolves it, and zero for any other and while a call is at work: of a run that died the
	// last sending is not known, see [Journal.NotBefore].
	NotBefore time.Time `json:"not_before,omitzero"`
	// TransactionID is the movement's, when done.
	TransactionID prepaid.TransactionID `json:"transaction_id,omitzero"`
	// CorrelationID is the service's, when it answered with one.
	CorrelationID string `json:"correlation_id,omitzero"`
	// Code is the service's error code, when rejected with one.
	Code prepaid.ErrorCode `json:"code,omitzero"`
	// Resolved: State was told to [Journal.Resolve], and is not an answer of the service.
	Resolved bool `json:"resolved,omitzero"`
}

// settled reports whether nothing is left to be done.
func (e Entry) settled() bool { return e.State == StateDone || e.State == StateRejected }

// open reports whether the payment may have been applied without our knowing.
func (e Entry) open() bool { return e.State == StateIntended || e.State == StateUnknown }

// rests reports whether e is left alone for a while before it is sent again: what may have been applied, and what a person
// has resolved, who may have been wrong, or early.
func (e Entry) rests() bool { return e.open() || e.Resolved && e.State == StateRejected }

func encode(e Entry) ([]byte, error) {
	if !e.validUTF8() {
		return nil, errors.New("a field is not valid UTF-8")
	}
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	line := append(frame(body), body...)
	if _, ok := decode(line); !ok { // or the whole file could not be read any more
		return nil, errors.New("a field cannot be read again")
	}
	return append(line, '\n'), nil
}

// validUTF8 is asked first, since JSON would write another request id in place of one that is not; since Go 1.27 in a way
// that reads back as if it had been meant.
func (e Entry) validUTF8() bool {
	for _, text := range [...]string{
		string(e.RequestID), e.Operation, string(e.AccountID), e.Destination, e.Params, string(e.State),
		string(e.TransactionID), e.CorrelationID, string(e.Code),
	} {
		if !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// frame is what stands before the JSON.
func frame(body []byte) []byte {
	return fmt.Appendf(nil, "%08x %08x ", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)), len(body))
}

// prefix is the length of what stands before the JSON in a line.
const prefix = 18

// decode reads a line without its end. It takes only what encode makes, so that nothing is lost when the record is
// written again.
func decode(line []byte) (Entry, bool) {
	if len(line) < prefix {
		return Entry{}, false
	}
	body := line[prefix:]
	var e Entry
	if !bytes.Equal(line[:prefix], frame(body)) || json.Unmarshal(body, &e) != nil {
		return Entry{}, false
	}
	again, err := json.Marshal(e)
	if err != nil || !bytes.Equal(again, body) || e.RequestID == "" {
		return Entry{}, false
	}
	switch e.State {
	case StateIntended, StateNotSent, StateUnknown, StateDone, StateRejected:
		return e, true
	}
	return Entry{}, false
}

// overrun reports whether rest, a last line without its end, is a whole record and more: then its end was damaged,
// and is not missing.
func overrun(rest []byte) bool {
	if len(rest) <= prefix {
		return false
	}
	length, err := strconv.ParseInt(string(rest[prefix-9:prefix-1]), 16, 32)
	if err != nil || length < 0 || length >= int64(len(rest)-prefix) {
		return false
	}
	_, ok := decode(rest[:prefix+int(length)])
	return ok
}

// scan reads a file and keeps each record. good is how much of it stands; what follows, up to size, is a torn end. After
// an error nothing that was kept counts.
func scan(from io.Reader, keep func(Entry)) (good, size int64, err error) {
	r := bufio.NewReaderSize(from, 64<<10)
	head, err := r.Peek(len(header))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return 0, 0, err
	case len(head) < len(header) && strings.HasPrefix(header, string(head)):
		return 0, int64(len(head)), nil
	case string(head) != header:
		return 0, 0, &CorruptError{Line: 1}
	}
	if _, err := r.Discard(len(header)); err != nil {
		return 0, 0, err
	}
	good = int64(len(header))
	for line := 2; ; line++ {
		text, err := r.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF) && !overrun(text):
			return good, good + int64(len(text)), nil
		case err != nil && !errors.Is(err, io.EOF):
			return 0, 0, err
		}
		e, ok := decode(bytes.TrimSuffix(text, []byte("\n")))
		if err != nil || !ok {
			return 0, 0, &CorruptError{Line: line, Offset: good}
		}
		keep(e)
		good += int64(len(text))
	}
}
