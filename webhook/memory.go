package webhook

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
)

// Memory returns a [ClaimStore] for one process; its claims are lost with the process. It holds at most maxIDs IDs, by
// default 100,000, and remembers a handled ID for the time keep, by default 24 h. Zero or less means the default.
//
// When it is full it forgets the ID that was handled longest ago, never a live lease; if it holds only live leases, Claim
// returns [ErrClaimsFull]. It starts no goroutine.
func Memory(maxIDs int, keep time.Duration) ClaimStore {
	if maxIDs <= 0 {
		maxIDs = defaultIDs
	}
	if keep <= 0 {
		keep = defaultKeep
	}
	return &memory{limit: maxIDs, keep: keep, entries: map[string]*memoryEntry{}}
}

// memory has each entry in the map and in one of two queues, both ordered by the end of the entry.
type memory struct {
	limit int
	keep  time.Duration

	mu      sync.Mutex
	entries map[string]*memoryEntry
	leased  memoryQueue
	handled memoryQueue
}

type memoryEntry struct {
	id    string
	ends  time.Time
	queue *memoryQueue
	index int // in queue
}

// Claim implements ClaimStore.
func (s *memory) Claim(ctx context.Context, messageID string, lease time.Duration) (Claim, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if lease <= 0 {
		return nil, &prepaid.ValidationError{Faults: []prepaid.FieldError{{Field: "lease", Rule: "must be above zero"}}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.expire(now)
	if found := s.entries[messageID]; found != nil {
		state := ClaimInFlight
		if found.queue == &s.handled {
			state = ClaimDone
		}
		return &memoryClaim{store: s, state: state}, nil
	}
	if len(s.entries) >= s.limit {
		if len(s.handled) == 0 {
			return nil, ErrClaimsFull
		}
		s.remove(s.handled[0])
	}
	entry := &memoryEntry{id: messageID, ends: now.Add(lease)}
	s.entries[messageID] = entry
	s.put(entry, &s.leased)
	return &memoryClaim{store: s, state: ClaimWon, entry: entry}, nil
}

// The callers of expire, put and remove hold s.mu.
func (s *memory) expire(now time.Time) {
	for _, queue := range [...]*memoryQueue{&s.leased, &s.handled} {
		for len(*queue) > 0 && !now.Before((*queue)[0].ends) {
			s.remove((*queue)[0])
		}
	}
}

func (s *memory) put(entry *memoryEntry, queue *memoryQueue) {
	entry.queue = queue
	heap.Push(queue, entry)
}

func (s *memory) remove(entry *memoryEntry) {
	heap.Remove(entry.queue, entry.index)
	delete(s.entries, entry.id)
}

// settle ends the lease of entry; the lease is lost if the ID is free or has another entry.
func (s *memory) settle(entry *memoryEntry, handled bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.expire(now)
	if entry == nil || s.entries[entry.id] != entry || entry.queue != &s.leased {
		return ErrClaimLost
	}
	if !handled {
		s.remove(entry)
		return nil
	}
	heap.Remove(&s.leased, entry.index)
	entry.ends = now.Add(s.keep)
	s.put(entry, &s.handled)
	return nil
}

type memoryClaim struct {
	store *memory
	state ClaimState
	entry *memoryEntry // nil unless won
}

func (c *memoryClaim) State() ClaimState { return c.state }

// Done needs no context: it does not wait.
func (c *memoryClaim) Done(context.Context) error { return c.store.settle(c.entry, true) }

func (c *memoryClaim) Release(context.Context) error { return c.store.settle(c.entry, false) }

// memoryQueue is a heap; the entry that ends first is at 0.
type memoryQueue []*memoryEntry

func (q memoryQueue) Len() int           { return len(q) }
func (q memoryQueue) Less(i, j int) bool { return q[i].ends.Before(q[j].ends) }

func (q memoryQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push is called by package heap with the argument of put.
func (q *memoryQueue) Push(x any) {
	entry, ok := x.(*memoryEntry)
	if !ok {
		return
	}
	entry.index = len(*q)
	*q = append(*q, entry)
}

// Pop returns the last entry: package heap has put the entry to remove there.
func (q *memoryQueue) Pop() any {
	last := len(*q) - 1
	entry := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return entry
}
