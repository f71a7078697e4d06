package fleet_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cardprograms/prepaid/contrib/internal/fleet"
)

// memory is a fleettest.Backend in this process, for tests in virtual time. Kill loses its state.
type memory struct {
	mu      sync.Mutex
	limits  map[string]*fleet.State
	run     int
	started time.Time
	ahead   time.Duration // of the server's clock
	dead    bool
	frozen  chan struct{} // closed by Thaw
}

// newMemory starts a server in memory.
func newMemory() *memory {
	return &memory{limits: map[string]*fleet.State{}, run: 1, started: time.Now()}
}

var errDead = errors.New("connection refused")

type memoryPool struct {
	of   *memory
	name string
}

// Exchange implements fleet.Pool.
func (p memoryPool) Exchange(ctx context.Context, r fleet.Report) (fleet.Grant, error) {
	m := p.of
	m.mu.Lock()
	frozen := m.frozen
	m.mu.Unlock()
	if frozen != nil {
		select {
		case <-frozen:
		case <-ctx.Done():
			return fleet.Grant{}, ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return fleet.Grant{}, errDead
	}
	return m.state(p.name).Exchange(m.server(), r), nil
}

func (m *memory) state(name string) *fleet.State {
	s := m.limits[name]
	if s == nil {
		s = &fleet.State{}
		m.limits[name] = s
	}
	return s
}

func (m *memory) server() fleet.Server {
	now := time.Now().Add(m.ahead)
	return fleet.Server{Run: strconv.Itoa(m.run), Now: now.UnixMilli(), Up: now.Sub(m.started).Milliseconds()}
}

// Open implements Backend.
func (m *memory) Open(_ *testing.T, name string) fleet.Pool { return memoryPool{m, name} }

// Used implements Backend.
func (m *memory) Used(_ *testing.T, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*m.state(name) = fleet.State{Server: m.server().Run, Seen: m.server().Now}
}

// Freeze implements Backend.
func (m *memory) Freeze(*testing.T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.frozen = make(chan struct{})
}

// Thaw implements Backend.
func (m *memory) Thaw(*testing.T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.frozen)
	m.frozen = nil
}

// Kill implements Backend.
func (m *memory) Kill(*testing.T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead, m.limits = true, map[string]*fleet.State{}
}

// Start implements Backend.
func (m *memory) Start(*testing.T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead, m.started = false, time.Now().Add(m.ahead)
	m.run++
}

// Step implements Backend.
func (m *memory) Step(_ *testing.T, by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead += by
}
