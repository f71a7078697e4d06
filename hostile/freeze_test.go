package hostile

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A freeze begins before the process has sent all that it may have claimed. Until the process has recovered, it is not disturbed, nor
// is the copy that takes over from it.
func TestFreezeAimsAtALaterPaymentOfAClaim(t *testing.T) {
	t.Parallel()
	r := &run{options: Options{Copies: 2}, orders: &orders{list: make([]Payment, 5)}, arrivals: map[int]int{0: 1, 1: 1}}
	frozen, other := &process{copy: 1}, &process{copy: 2}
	at := func(p *process, payment int) flight { return flight{process: p, payment: payment} }
	none, kill := disturbance{}, disturbance{act: actKill}
	require.Equal(t, none, r.next(at(frozen, 0), disturbance{act: actFreeze, waits: 3}), "payment 1 has been sent")
	require.Equal(t, kill, r.next(at(frozen, 3), kill), "payment 3 has too few followers")
	require.False(t, r.meets(at(frozen, 1)))
	freeze := r.next(at(frozen, 1), none)
	require.Equal(t, actFreeze, freeze.act)
	require.Equal(t, 1, freeze.waits)

	require.True(t, r.meets(at(frozen, 2)), "after its lease")
	require.False(t, r.meets(at(other, 2)))
	require.Equal(t, kill, r.next(at(other, 2), kill))
	require.Equal(t, none, r.next(at(frozen, 2), kill))
	require.True(t, r.meets(at(other, 1)), "takes over")
	require.True(t, r.meets(at(other, 2)))
	require.Equal(t, none, r.next(at(other, 2), none))
	r.frozen.until.Store(0)
	require.False(t, r.meets(at(other, 2)))
	require.Equal(t, kill, r.next(at(frozen, 2), none), "waited")

	require.Equal(t, actFreeze, r.next(at(other, 4), disturbance{act: actFreeze}).act, "waits no longer")
	require.Equal(t, none, r.next(at(frozen, 4), disturbance{act: actFreeze}), "one at a time")

	r.options.Copies = 1
	r.frozen = nil
	require.True(t, r.next(at(frozen, 4), none).freeze.isTakenOver(), "nobody takes over")
	require.False(t, r.meets(at(frozen, 4)))
}
