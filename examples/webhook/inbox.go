package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/cardprograms/prepaid"
)

// entry is a line of the inbox.
type entry struct {
	Key     string          `json:"key"`
	Message json.RawMessage `json:"message"` // as received: it may contain personal data
}

// inbox stands for a database table. Work through it elsewhere: a message only announces a change to the history of an account.
type inbox struct {
	file *os.File

	mu     sync.Mutex
	kept   map[string]bool
	broken error // error of the file: its content is unknown, so nothing more is accepted
}

// openInbox reads the file, if it exists, and appends to it. Only one process at a time may use it.
func openInbox(name string) (*inbox, error) {
	in := &inbox{kept: map[string]bool{}}
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	for line := range bytes.Lines(text[:whole]) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil || e.Key == "" {
			return nil, fmt.Errorf("%s: line %d is not one of the inbox", name, len(in.kept)+1)
		}
		in.kept[e.Key] = true
	}
	in.file, err = os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil { // a crash may have cut off the last line: its message was never acknowledged, and is sent again
		err = in.file.Truncate(int64(whole))
	}
	return in, err
}

// keep returns when the message is on the disk: only then may it be acknowledged.
func (in *inbox) keep(_ context.Context, m *prepaid.Message) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	e := entry{Key: string(m.HookID) + "/" + string(m.ID), Message: m.Raw}
	if in.kept[e.Key] || in.broken != nil {
		return in.broken
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = in.file.Write(append(line, '\n'))
	if err = errors.Join(err, in.file.Sync()); err != nil {
		in.broken = fmt.Errorf("restart when the inbox can be written: %w", err)
		return in.broken
	}
	in.kept[e.Key] = true
	fmt.Println("kept", m.Type)
	return nil
}
