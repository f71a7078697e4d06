//go:build prepaidrecord

package recorder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
)

const (
	mostShapes = 2000     // of one server
	mostBody   = 64 << 10 // limit of a request, and of a response that is made while it is sent; a longer one is not recorded
)

// Recorder keeps one response of each shape of one server.
type Recorder struct {
	describe func() ([]byte, error)
	seed     maphash.Seed

	mu   sync.Mutex
	seen map[uint64]bool
	text bytes.Buffer
}

// entry is a request with its response.
type entry struct {
	Operation string      `json:"operation"`
	Params    []string    `json:"params,omitzero"` // of the path
	Query     string      `json:"query,omitzero"`
	Request   string      `json:"request,omitzero"`
	Status    int         `json:"status"`
	Header    http.Header `json:"header"`
	Body      string      `json:"body,omitzero"`
}

// New makes a recorder, or nil if PREPAID_RECORD is not set. The function describe returns the document of the server.
func New(describe func() ([]byte, error)) *Recorder {
	if os.Getenv("PREPAID_RECORD") == "" {
		return nil
	}
	return &Recorder{describe: describe, seed: maphash.MakeSeed(), seen: make(map[uint64]bool)}
}

// Add records the response to a call, unless one of the same shape is recorded. A streamed body is recorded while it is sent.
func (r *Recorder) Add(c *exchange.Call, response *exchange.Response) {
	if r == nil || c.Route == nil {
		return
	}
	made := entry{
		Operation: c.Route.Name(), Params: c.Params, Query: c.Request.URL.RawQuery, Status: response.Status, Header: response.Headers(),
	}
	if len(c.Body) < mostBody {
		made.Request = string(c.Body)
	}
	if response.Stream == nil {
		r.add(made, response.Body)
		return
	}
	stream := response.Stream
	response.Stream = func(w io.Writer) error {
		head := &head{}
		err := stream(io.MultiWriter(w, head))
		if err == nil && head.Len() < mostBody {
			r.add(made, head.Bytes())
		}
		return err
	}
}

// head keeps the beginning of the written text.
type head struct{ bytes.Buffer }

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	_, _ = h.Buffer.Write(p[:min(len(p), mostBody-h.Len())])
	return len(p), nil
}

func (r *Recorder) add(made entry, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	about := []byte(made.Operation + " " + strconv.Itoa(made.Status) + " " + strings.Join(made.Params, " ") + " " + made.Query + " " + made.Request)
	all := elements(body)
	if all == nil {
		if r.isNew(about, body) {
			made.Body = string(body)
			r.put(made)
		}
		return
	}
	var fresh [][]byte
	for _, element := range all { // a page has many equal shapes
		if r.isNew([]byte(made.Operation), element) {
			fresh = append(fresh, element)
		}
	}
	if r.isNew(about, nil) || len(fresh) > 0 {
		if fresh == nil {
			fresh = all[:1]
		}
		made.Body = "[" + string(bytes.Join(fresh, []byte(","))) + "]"
		r.put(made)
	}
}

func (r *Recorder) isNew(about, text []byte) bool {
	var h maphash.Hash
	h.SetSeed(r.seed)
	shape(&h, about)
	_ = h.WriteByte(0)
	shape(&h, text)
	if r.seen[h.Sum64()] || len(r.seen) >= mostShapes {
		return false
	}
	r.seen[h.Sum64()] = true
	return true
}

func (r *Recorder) put(made entry) {
	line, _ := json.Marshal(made) // strings and numbers always marshal
	r.text.Write(append(line, '\n'))
}

// Close writes the recorded responses.
func (r *Recorder) Close() error {
	if r == nil || r.text.Len() == 0 {
		return nil
	}
	document, err := r.describe()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(document)
	name := filepath.Join(os.Getenv("PREPAID_RECORD"), hex.EncodeToString(sum[:8]))
	made, err := os.OpenFile(name+".json", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = made.Write(document)
		err = errors.Join(err, made.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	to, err := os.OpenFile(name+".jsonl", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = to.Write(r.text.Bytes()) // in one write: other servers write to the same file
	return errors.Join(err, to.Close())
}
