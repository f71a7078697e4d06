package prepaidtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// transactionIDs returns the message ids of the transactions that arrived, in order.
func (r *receiver) transactionIDs() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for _, message := range r.messages {
		if message["type"] == "transaction" {
			ids = append(ids, message["id"].(string))
		}
	}
	return ids
}

// transactionDeliveries omits pings.
func (c *caller) transactionDeliveries() []Delivery {
	var list []Delivery
	for _, delivery := range c.Deliveries() {
		if delivery.Type == "transaction" {
			list = append(list, delivery)
		}
	}
	return list
}

func TestDeliveryFault_LoseAnswer(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{FrozenClock: true, DeliveryRetries: []time.Duration{time.Minute}})
	hook := c.addHook(hookText(t, r.URL, nil))
	c.InjectDelivery(prepaid.HookID(hook), LoseResponse().Times(3))
	id := c.AddAccount(SeedAccount{Balance: "1"})
	c.quiet()
	c.Advance(time.Minute)
	c.quiet()
	ids := r.transactionIDs()
	require.Len(t, ids, 2)
	require.Equal(t, ids[0], ids[1], "the receiver has it twice")
	require.Equal(t, ids[0], c.get("hooks/" + hook + "/undeliverable").list()[0]["id"], "the service believes it has it not")
	first := c.transactionDeliveries()[0]
	require.False(t, first.Delivered)
	require.Zero(t, first.Status)
	require.Contains(t, first.String(), "transaction "+ids[0]+" attempt 1: the response was lost (fault)")

	require.Equal(t, []ArmedDeliveryFault{{prepaid.HookID(hook), LoseResponse().Times(3), 2, 1}}, c.DeliveryFaults())
	c.ClearDeliveryFaults()
	require.Empty(t, c.DeliveryFaults())
	c.Adjust(id, "1")
	c.quiet()
	require.Len(t, c.get("hooks/"+hook+"/undeliverable").list(), 1)
}

func TestDeliveryFault_DelayLetsMessagesOvertake(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{FrozenClock: true})
	hook := c.addHook(hookText(t, r.URL, nil))
	c.InjectDelivery(prepaid.HookID(hook), DelayMessage(time.Minute), DeliveryFault{})
	id := c.AddAccount(SeedAccount{Balance: "1"})
	c.Adjust(id, "2")
	c.quiet()
	require.Len(t, r.transactionIDs(), 1)
	require.Empty(t, c.DeliveryFaults())
	c.InjectDelivery(prepaid.HookID(hook), DelayMessage(time.Minute).Always()) // does not delay the first again
	c.Advance(time.Minute)
	c.quiet()
	require.Len(t, r.transactionIDs(), 2)
	amount := func(i int) any {
		return r.messages[i]["transaction"].(map[string]any)["amount"]
	}
	require.Equal(t, []any{2.0, 1.0}, []any{amount(1), amount(2)}, "the second overtook the first")
	for _, delivery := range c.transactionDeliveries() {
		require.Equal(t, 1, delivery.Attempt, "holding back is no attempt")
	}
}

func TestDeliveryFault_BadUseFailsTheTest(t *testing.T) {
	t.Parallel()
	for rule, fault := range map[string]DeliveryFault{
		"copies must":          DuplicateMessage(0),
		"must not be negative": DelayMessage(-1),
		"not for pings":        DelayMessage(1).WithPings(),
		"times must":           LoseMessage().Times(-1),
		"probability must":     LoseMessage().WithProbability(2),
	} {
		recorder := &failures{TB: t}
		s := NewServer(recorder, Options{})
		s.InjectDelivery("", LoseMessage(), fault)
		require.Len(t, recorder.messages, 1, rule)
		require.Contains(t, recorder.messages[0], rule)
		require.Empty(t, s.DeliveryFaults())
		s.InjectDelivery("nobody", LoseMessage())
		require.Len(t, recorder.messages, 2)
	}
}
