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

// State is the progress of a payment.
type State string

const (
	// StateIntended: it was about to be sent. If found after a crash, it may have been.
	StateIntended State = "intended"
	// StateNotSent: nothing moved, and the request itself was not at fault: send it when the cause is gone.
	StateNotSent State = "not_sent"
	// StateUnknown: it may have been applied.
	StateUnknown State = "unknown"
	// StateDone: the money moved.
	StateDone State = "done"
	// StateRejected: nothing moved, because the service or a check refused it or because of a [Resolution], see [Entry].
	// If called again, it is sent again.
	StateRejected State = "rejected"
)

// Entry is what is known of one payment.
type Entry struct {
	// RequestID identifies the payment.
	RequestID prepaid.RequestID `json:"request_id"`
	// Operation is "Accounts.Transfer" or "Accounts.DirectEntryOut".
	Operation string `json:"operation"`
	// AccountID is the paying account.
	AccountID prepaid.AccountID `json:"account_id"`
	// Amount is in currency units.
	Amount prepaid.Amount `json:"amount"`
	// Destination is the digest of the destination, in hex.
	Destination string `json:"destination"`
	// Params is the digest of all params, in hex.
	Params string `json:"params"`
	// State is its progress.
	State State `json:"state"`
	// Began is when it was first intended, UTC.
	Began time.Time `json:"began"`
	// Changed is when this state was written, UTC.
	Changed time.Time `json:"changed"`
	// Runs counts the calls that may have sent it: those that were about to, except those that ended with
	// [prepaid.ErrRequestIDExpired]. It is 0 if this journal has never sent it.
	Runs int `json:"runs"`
	// FirstSent is when the first request may have been sent, UTC; zero if unknown. Like LastSent and Attempts it comes
	// from the [prepaid.CallError] of failed runs: a run that succeeded or whose process died adds nothing to the three.
	FirstSent time.Time `json:"first_sent,omitzero"`
	// LastSent is when the last request may have been sent, UTC; zero if unknown.
	LastSent time.Time `json:"last_sent,omitzero"`
	// Attempts counts the requests that may have been sent, in all runs for which the number is known.
	Attempts int `json:"attempts,omitzero"`
	// NotBefore is when a payment of unknown outcome may be sent again, UTC: [prepaid.CallError].NotBefore of its last
	// run. It is kept when [NotMoved] resolves the payment. It is zero for any other payment and while a call is running:
	// if a run died, its last sending is unknown, see [Journal.NotBefore].
	NotBefore time.Time `json:"not_before,omitzero"`
	// TransactionID is the movement's, when done.
	TransactionID prepaid.TransactionID `json:"transaction_id,omitzero"`
	// CorrelationID is the service's, if its response had one.
	CorrelationID string `json:"correlation_id,omitzero"`
	// Code is the service's error code, if it rejected the payment with one.
	Code prepaid.ErrorCode `json:"code,omitzero"`
	// Resolved: State was recorded by [Journal.Resolve] and does not come from the service.
	Resolved bool `json:"resolved,omitzero"`
}

// settled reports whether nothing is left to be done.
func (e Entry) settled() bool { return e.State == StateDone || e.State == StateRejected }

// open reports whether the payment may have been applied without the journal knowing.
func (e Entry) open() bool { return e.State == StateIntended || e.State == StateUnknown }

// rests reports whether e must wait before it is sent again: what may have been applied, and what a person has resolved,
// who may have been wrong or early.
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
	if _, ok := decode(line); !ok { // or the whole file would become unreadable
		return nil, errors.New("a field cannot be read again")
	}
	return append(line, '\n'), nil
}

// validUTF8 is checked first, since JSON would replace a request ID that is not valid UTF-8 by another; since Go 1.27 in
// a way that reads back as if it had been intended.
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

// frame is what precedes the JSON.
func frame(body []byte) []byte {
	return fmt.Appendf(nil, "%08x %08x ", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)), len(body))
}

// prefix is the length of what precedes the JSON in a line.
const prefix = 18

// decode parses a line without its end. It accepts only what encode writes, so that nothing is lost when the record is
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

// overrun reports whether rest, a last line without its end, is more than a whole record: then its end is damaged, not
// missing.
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

// scan reads a file and keeps each record. good is the length of the valid part; what follows, up to size, is an
// incomplete last line. After an error the kept records are invalid.
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
