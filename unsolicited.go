package prepaid

import (
	"bytes"
	"io"
)

// DropUnsolicited returns a writer for the standard logger that leaves out the lines in which net/http prints what followed
// a complete response, and passes on all others to next:
//
//	log.SetOutput(prepaid.DropUnsolicited(log.Writer()))
//
// When a service counts a Content-Length in characters, or sends a body with a 204, net/http prints the rest of it (a
// name, a card number) through package log if the connection was kept. No setting of net/http prevents that. A [Client]
// prevents it only for requests that open their own connection, see [NewTransport]. Call DropUnsolicited after
// slog.SetDefault, which sets the output too.
func DropUnsolicited(next io.Writer) io.Writer { return unsolicitedDropper{next} }

type unsolicitedDropper struct{ next io.Writer }

// Write takes one record, as log calls it.
func (d unsolicitedDropper) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("Unsolicited response received on idle HTTP channel")) {
		return len(line), nil
	}
	return d.next.Write(line)
}
