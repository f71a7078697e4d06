package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
)

// payload is the emulator's message for a transaction; the reference does not show the form. A pointer distinguishes
// a missing amount from 0.00.
type payload struct {
	Transaction struct {
		Amount *prepaid.Amount `json:"amount"`
	} `json:"transaction"`
}

// entry is a line of the books file.
type entry struct {
	Hook    prepaid.HookID      `json:"hook_id"`
	Message prepaid.MessageID   `json:"message_id"`
	Type    prepaid.MessageType `json:"type"`
	At      time.Time           `json:"timestamp"`
	Amount  *prepaid.Amount     `json:"amount,omitzero"`  // for a transaction
	Raw     json.RawMessage     `json:"message,omitzero"` // for any other message, as received
}

// String returns only the type and amount of the message.
func (e entry) String() string {
	if e.Amount == nil {
		return string(e.Type)
	}
	return string(e.Type) + " " + e.Amount.String()
}

func (e entry) key() string { return string(e.Hook) + "/" + string(e.Message) }

// books stand for a database: they outlive the process, and recognise a repeat by the message's ID.
type books struct {
	say  *log.Logger
	file *os.File

	mu           sync.Mutex
	kept         map[string]bool
	transactions int
	sum          prepaid.Amount
	broken       error // error of the file: its content is unknown, so nothing more is accepted
}

// openBooks reads the file, if it exists, and appends to it. Only one process at a time may use it.
func openBooks(name string, say *log.Logger) (*books, error) {
	b := &books{say: say, kept: map[string]bool{}}
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	for line := range bytes.Lines(text[:whole]) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil || e.Message == "" || e.Type == prepaid.MessageTypeTransaction && e.Amount == nil {
			return nil, fmt.Errorf("line %d is not one of the books", len(b.kept)+1)
		}
		if err := b.count(e); err != nil {
			return nil, err
		}
	}
	if whole < len(text) { // a crash cut the line off, and its message was never acknowledged: the service sends it again
		if err := os.Truncate(name, int64(whole)); err != nil {
			return nil, err
		}
	}
	if b.file, err = os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if directory, err := os.Open(filepath.Dir(name)); err == nil { // so that a new file survives a power cut
		_ = directory.Sync()
		_ = directory.Close()
	}
	return b, nil
}

func (b *books) book(_ context.Context, m *prepaid.Message, p payload) error {
	if p.Transaction.Amount == nil { // the service stores a refused message, for inspection
		return errors.New("the message has no transaction.amount")
	}
	return b.write(entry{Hook: m.HookID, Message: m.ID, Type: m.Type, At: m.Timestamp, Amount: p.Transaction.Amount})
}

// note keeps a message of another type as received, so that a drain loses no message. A ping has no ID.
func (b *books) note(_ context.Context, m *prepaid.Message) error {
	if m.ID == "" {
		return nil
	}
	return b.write(entry{Hook: m.HookID, Message: m.ID, Type: m.Type, At: m.Timestamp, Raw: m.Raw})
}

// write returns when the entry is on the disk: only then may the message be acknowledged.
func (b *books) write(e entry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept[e.key()] {
		b.say.Printf("already in the books: %s", e)
		return nil
	}
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
	b.say.Printf("booked: %s", e)
	return b.count(e)
}

// count adds an entry that is in the file.
func (b *books) count(e entry) (err error) {
	b.kept[e.key()] = true
	if e.Amount != nil {
		b.transactions++
		b.sum, err = b.sum.Add(*e.Amount)
	}
	return err
}

func (b *books) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprintf("transactions booked: %d, together %s", b.transactions, b.sum)
}
