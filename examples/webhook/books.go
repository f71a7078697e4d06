package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
)

// payload is the emulator's message for a transaction; the reference does not show it. A pointer distinguishes a
// missing amount from 0.00.
type payload struct {
	Transaction struct {
		Amount *prepaid.Amount `json:"amount"`
	} `json:"transaction"`
}

// entry is a line of the file.
type entry struct {
	Hook    prepaid.HookID      `json:"hook_id"`
	Message prepaid.MessageID   `json:"message_id"`
	Type    prepaid.MessageType `json:"type"`
	At      time.Time           `json:"timestamp"`
	Amount  *prepaid.Amount     `json:"amount,omitzero"`  // for a transaction
	Raw     json.RawMessage     `json:"message,omitzero"` // for any other message, as received
}

func (e entry) key() string { return string(e.Hook) + "/" + string(e.Message) }

// books stand for a database: they outlive the process and tolerate a repeat, by the message's ID.
type books struct {
	say  *printer
	file *os.File

	mu      sync.Mutex
	amounts map[string]prepaid.Amount // of transactions
	others  map[string]bool
	repeats int
	busy    int   // so many bookings fail
	broken  error // error of the file: nothing more is accepted, since its content is unknown
}

// openBooks reads the file, if it exists, and appends to it. One process at a time may use it.
func openBooks(name string, say *printer) (*books, error) {
	b := &books{say: say, amounts: map[string]prepaid.Amount{}, others: map[string]bool{}}
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	number := 0
	for line := range bytes.Lines(text[:whole]) {
		number++
		var e entry
		if err := json.Unmarshal(line, &e); err != nil || e.Message == "" || e.Type == prepaid.MessageTypeTransaction && e.Amount == nil {
			return nil, fmt.Errorf("line %d is not one of the books", number)
		}
		b.keep(e)
	}
	if whole < len(text) { // cut off by a crash, and so never acknowledged: it is sent again
		if err := os.Truncate(name, int64(whole)); err != nil {
			return nil, err
		}
	}
	if b.file, err = os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if directory, err := os.Open(filepath.Dir(name)); err == nil { // so that a new file is found after a power cut
		_ = directory.Sync()
		_ = directory.Close()
	}
	return b, nil
}

func (b *books) close() error { return b.file.Close() }

func (b *books) book(_ context.Context, m *prepaid.Message, p payload) error {
	amount := p.Transaction.Amount
	if amount == nil { // refused, it stays stored and can be inspected
		return errors.New("the message has no transaction.amount")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy > 0 {
		b.busy--
		return errors.New("the books are busy")
	}
	e := entry{Hook: m.HookID, Message: m.ID, Type: m.Type, At: m.Timestamp, Amount: amount}
	if _, known := b.amounts[e.key()]; known {
		b.repeats++
		b.say.line("already in the books: %s", amount)
		return nil
	}
	if err := b.write(e); err != nil {
		return err
	}
	b.say.line("booked %s", amount)
	return nil
}

// note keeps a message of another type as received, so that a drain loses none. One without an ID is a ping.
func (b *books) note(m *prepaid.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := entry{Hook: m.HookID, Message: m.ID, Type: m.Type, At: m.Timestamp, Raw: m.Raw}
	if m.ID == "" || b.others[e.key()] {
		return nil
	}
	return b.write(e)
}

// write returns when the entry is on the disk: only then may the message be acknowledged.
func (b *books) write(e entry) error {
	if b.broken != nil {
		return b.broken
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = b.file.Write(append(line, '\n'))
	if err = errors.Join(err, b.file.Sync()); err != nil {
		b.broken = errors.New("the books cannot be written: restart when they can")
		return b.broken
	}
	b.keep(e)
	return nil
}

func (b *books) keep(e entry) {
	if e.Amount == nil {
		b.others[e.key()] = true
		return
	}
	b.amounts[e.key()] = *e.Amount
}

func (b *books) fail(times int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy = times
}

func (b *books) total() (total prepaid.Amount, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, amount := range b.amounts {
		if total, err = total.Add(amount); err != nil {
			return total, err
		}
	}
	return total, nil
}

func (b *books) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprintf("transactions booked: %d, repeated and not booked twice: %d", len(b.amounts), b.repeats)
}
