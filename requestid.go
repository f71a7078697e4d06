package prepaid

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"
)

const (
	// requestIDMaxAge is how old a request id may be when it is sent, and requestIDMaxAhead how far ahead of the
	// clock the day of a derived one may be. The service remembers an answer for 30 days from the first sending and
	// would then pay again. A run for Monday's payday is sent on Friday, under the id of Monday: so the two together
	// stay a day below the 30, which is left for differing clocks, zones and the call itself.
	requestIDMaxAge   = 22 * 24 * time.Hour
	requestIDMaxAhead = 7 * 24 * time.Hour
)

// RequestID makes a transfer safe to send again: for 30 days the service answers a repeated id with the result
// of the first, and moves nothing. It has at most 100 characters; make one with [NewRequestID] or
// [DeriveRequestID], or bring your own. The zero value is no id, and is refused.
type RequestID string

// NewRequestID returns a new random id in UUIDv7 form, which sorts by the time it was made. Store it, with
// everything else that is to be sent, before the call: a second id is a second payment.
func NewRequestID() RequestID {
	var random [10]byte
	_, _ = rand.Read(random[:]) // never fails
	return formatRequestID(time.Now(), random)
}

// DeriveRequestID returns the same id for the same day and parts, on every machine and after every crash:
// DeriveRequestID(payday, "payroll-2026-11", "emp-7"). Together they must name one payment. The day is the
// calendar day that date shows in its own location, so give a date in a fixed location. Take a day
// that belongs to the payment and stays the same when the run is repeated, such as its payday: the id is accepted
// from 7 days before it to 22 days after.
//
// Parts are kept apart: ("ab", "c") and ("a", "bc") give different ids. If every part is empty the
// id is empty, and a transfer refuses it; it also refuses the id of a zero date, as expired.
//
// The id has UUIDv7 form: its time is midnight UTC of the day, and its other bits are the first ones of the
// SHA-256 of all parts, each with its length in bytes (64 bits, big endian) before it.
func DeriveRequestID(date time.Time, parts ...string) RequestID {
	if strings.Join(parts, "") == "" {
		return ""
	}
	var message []byte
	for _, part := range parts {
		message = binary.BigEndian.AppendUint64(message, uint64(len(part)))
		message = append(message, part...)
	}
	sum := sha256.Sum256(message)
	year, month, day := date.Date()
	return formatRequestID(time.Date(year, month, day, 0, 0, 0, 0, time.UTC), [10]byte(sum[:10]))
}

// Time returns the moment inside an id in UUIDv7 form, in UTC: when it was made, or midnight of the day it was
// derived from. It returns false for any other form.
//
// A transfer refuses an id whose time is more than 22 days ago or 7 days ahead with [ErrRequestIDExpired]: the
// service may have forgotten it, or would before the id expires here, and would pay again.
func (id RequestID) Time() (time.Time, bool) {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return time.Time{}, false
	}
	var digits [32]byte
	n := 0
	for _, part := range [...]RequestID{id[:8], id[9:13], id[14:18], id[19:23], id[24:]} {
		n += copy(digits[n:], part)
	}
	var b [16]byte
	if _, err := hex.Decode(b[:], digits[:]); err != nil || b[6]>>4 != 7 || b[8]>>6 != 0b10 {
		return time.Time{}, false
	}
	high, low := binary.BigEndian.Uint16(b[:]), binary.BigEndian.Uint32(b[2:])
	return time.UnixMilli(int64(high)<<32 | int64(low)).UTC(), true
}

// expired reports whether id tells its time and is too old, or too far ahead, to be sent.
func (id RequestID) expired(now time.Time) bool {
	made, ok := id.Time()
	return ok && (now.Sub(made) > requestIDMaxAge || made.Sub(now) > requestIDMaxAhead)
}

// formatRequestID lays out a UUIDv7 (RFC 9562): 48 bits of milliseconds, then random, of which version and
// variant replace six bits. A moment that 48 bits cannot hold becomes the nearest one that they can.
func formatRequestID(moment time.Time, random [10]byte) RequestID {
	var b [16]byte
	ms := min(max(moment.UnixMilli(), 0), 1<<48-1)
	binary.BigEndian.PutUint64(b[:], uint64(ms)<<16)
	copy(b[6:], random[:])
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	text := hex.EncodeToString(b[:])
	return RequestID(text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:])
}
