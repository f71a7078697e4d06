package reconcile

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
)

// record is a row or an item, in a form that needs little memory.
type record struct {
	account, id, request, code string
	amount                     prepaid.Amount
	from, to                   int64 // in microseconds; equal for an item
	expected                   Expected
	explained                  bool // a row that has an item, or had one in an earlier run
}

func recordOfRow(r *Row) record {
	return record{
		account: string(r.AccountID), id: string(r.TransactionID), request: string(r.RequestID), amount: r.Amount,
		from: r.From.UnixMicro(), to: r.To.UnixMicro(), expected: r.Expected,
	}
}

func recordOfItem(i *Item) record {
	at := i.OccurredAt.UnixMicro()
	return record{account: string(i.AccountID), id: string(i.TransactionID), code: string(i.Type), amount: i.Amount, from: at, to: at}
}

func (r *record) row() Row {
	return Row{
		RequestID: prepaid.RequestID(r.request), TransactionID: prepaid.TransactionID(r.id), AccountID: prepaid.AccountID(r.account),
		Amount: r.amount, From: time.UnixMicro(r.from).UTC(), To: time.UnixMicro(r.to).UTC(), Expected: r.expected,
	}
}

func (r *record) item() Item {
	return Item{
		TransactionID: prepaid.TransactionID(r.id), AccountID: prepaid.AccountID(r.account), Type: prepaid.TransactionType(r.code),
		Amount: r.amount, OccurredAt: time.UnixMicro(r.from).UTC(),
	}
}

// byID orders records by account and transaction ID. Like byAmount, it is called too often to compare everything each time.
func byID(a, b *record) int {
	if order := cmp.Compare(a.account, b.account); order != 0 {
		return order
	}
	if order := cmp.Compare(a.id, b.id); order != 0 {
		return order
	}
	return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.request, b.request))
}

// byAmount orders records of one account by amount and time.
func byAmount(a, b *record) int {
	if order := a.amount.Compare(b.amount); order != 0 {
		return order
	}
	return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.id, b.id), cmp.Compare(a.request, b.request))
}

// sorter sorts any number of records in constant memory: above a number of records it writes sorted runs to a temporary file.
type sorter struct {
	directory string
	compare   func(a, b *record) int
	most      int // records in memory
	records   []record
	file      *os.File
	named     bool // the file must be removed
	runs      []run
	end       int64 // where the last run ends
}

// inMemory is how many records a sorter of a run keeps in memory.
const inMemory = 1 << 14

// run is a sorted part of a file.
type run struct {
	at, length int64
	records    int
}

func (s *sorter) add(r *record) error {
	s.records = append(s.records, *r)
	if len(s.records) < s.most {
		return nil
	}
	return s.flush()
}

func (s *sorter) sort() {
	slices.SortFunc(s.records, func(a, b record) int { return s.compare(&a, &b) })
}

// flush writes the records in memory as a run.
func (s *sorter) flush() (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.directory, "reconcile-*"); err != nil { // with mode 0600
			return err
		}
		s.named = os.Remove(s.file.Name()) != nil // no file stays if the process is killed; Windows removes no open file
	}
	s.sort()
	out := bufio.NewWriterSize(s.file, 1<<16)
	part := run{at: s.end, records: len(s.records)}
	var encoded []byte
	for i := range s.records {
		encoded = s.records[i].append(encoded[:0])
		part.length += int64(len(encoded))
		if _, err := out.Write(encoded); err != nil {
			return err
		}
	}
	s.runs, s.end, s.records = append(s.runs, part), s.end+part.length, s.records[:0]
	return out.Flush()
}

// sorted returns the records in order. No more records may be added.
func (s *sorter) sorted() (*cursor, error) {
	s.sort()
	c := &cursor{compare: s.compare, sources: []*source{{rest: s.records}}}
	size := max(4<<10, 1<<20/max(len(s.runs), 1))
	for _, part := range s.runs {
		in := bufio.NewReaderSize(io.NewSectionReader(s.file, part.at, part.length), size)
		c.sources = append(c.sources, &source{in: in, left: part.records})
	}
	for i := len(c.sources) - 1; i >= 0; i-- {
		if more, err := c.sources[i].next(); err != nil {
			return nil, err
		} else if !more {
			c.sources = slices.Delete(c.sources, i, i+1)
		}
	}
	heap.Init(c)
	return c, nil
}

func (s *sorter) close() {
	if s.file != nil {
		_ = s.file.Close() // its content is not needed any more
	}
	if s.named {
		_ = os.Remove(s.file.Name())
	}
}

// cursor merges sorted runs. It is a heap of sources, ordered by their first records.
type cursor struct {
	compare func(a, b *record) int
	sources []*source
}

// head returns the current record until the next call of advance, or nil at the end.
func (c *cursor) head() *record {
	if len(c.sources) == 0 {
		return nil
	}
	return &c.sources[0].head
}

func (c *cursor) advance() error {
	more, err := c.sources[0].next()
	switch {
	case err != nil:
		return err
	case !more:
		heap.Pop(c)
	case len(c.sources) > 1:
		heap.Fix(c, 0)
	}
	return nil
}

// skip advances past an account.
func (c *cursor) skip(account string) error {
	for c.head() != nil && c.head().account == account {
		if err := c.advance(); err != nil {
			return err
		}
	}
	return nil
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (c *cursor) Len() int           { return len(c.sources) }
func (c *cursor) Less(i, j int) bool { return c.compare(&c.sources[i].head, &c.sources[j].head) < 0 }
func (c *cursor) Swap(i, j int)      { c.sources[i], c.sources[j] = c.sources[j], c.sources[i] }
func (c *cursor) Push(x any)         { c.sources = append(c.sources, x.(*source)) }
func (c *cursor) Pop() any {
	last := c.sources[len(c.sources)-1]
	c.sources = c.sources[:len(c.sources)-1]
	return last
}

// source is a sorted run, in memory or in a file.
type source struct {
	head  record
	rest  []record
	in    *bufio.Reader
	left  int // unread records in the file
	bytes []byte
}

func (s *source) next() (more bool, err error) {
	switch {
	case len(s.rest) > 0:
		s.head, s.rest = s.rest[0], s.rest[1:]
		return true, nil
	case s.left == 0:
		return false, nil
	}
	s.left--
	return true, s.read()
}

// append appends the total length of the texts, the length of each text but the last, the numbers, and the texts.
func (r *record) append(b []byte) []byte {
	var amount [32]byte
	text, _ := r.amount.AppendText(amount[:0]) // never fails
	parts := [...]string{r.account, r.id, r.request, r.code}
	total := len(text)
	for _, part := range parts {
		total += len(part)
	}
	b = binary.AppendUvarint(b, uint64(total))
	for _, part := range parts {
		b = binary.AppendUvarint(b, uint64(len(part)))
	}
	b = binary.AppendVarint(binary.AppendVarint(b, r.from), r.to)
	b = append(b, byte(r.expected), 0)
	if r.explained {
		b[len(b)-1] = 1
	}
	for _, part := range parts {
		b = append(b, part...)
	}
	return append(b, text...)
}

// read reads the next record, in the form of append.
func (s *source) read() error {
	var lengths [5]uint64
	for i := range lengths {
		var err error
		if lengths[i], err = binary.ReadUvarint(s.in); err != nil || lengths[i] > math.MaxInt32 || lengths[i] > lengths[0] {
			return cmp.Or(err, io.ErrUnexpectedEOF)
		}
	}
	from, fromErr := binary.ReadVarint(s.in)
	to, toErr := binary.ReadVarint(s.in)
	expected, expectedErr := s.in.ReadByte()
	explained, err := s.in.ReadByte()
	if err := cmp.Or(fromErr, toErr, expectedErr, err); err != nil {
		return err
	}
	s.bytes = slices.Grow(s.bytes[:0], int(lengths[0]))[:lengths[0]] //nolint:gosec // checked above
	if _, err := io.ReadFull(s.in, s.bytes); err != nil {
		return err
	}
	text := string(s.bytes) // one allocation for all texts
	part := func(length uint64) (first string) {
		length = min(length, uint64(len(text)))
		first, text = text[:length], text[length:]
		return first
	}
	s.head = record{
		account: part(lengths[1]), id: part(lengths[2]), request: part(lengths[3]), code: part(lengths[4]),
		from: from, to: to, expected: Expected(expected), explained: explained == 1,
	}
	s.head.amount, err = prepaid.ParseAmount(text)
	return err
}
