package prepaidtest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// Thousands of concurrent random operations, with repeated request ids and cut connections: no money is made or
// lost, every balance is the sum of its history, and no request_id is carried out twice.
func TestProperty_ConcurrentMoney(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano()) // the time in a bubble is always the same
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		const each = 100
		p := newProperty(start(t, Options{InMemory: true, Kind: true, RateLimit: -1, TokenLifetime: 240 * time.Hour,
			SimulationDelay: time.Minute, RequestLog: -1}))
		for i := range 12 {
			p.accounts = append(p.accounts, p.AddAccount(SeedAccount{Balance: strconv.Itoa(100 * i)}))
		}
		var work sync.WaitGroup
		for worker := range uint64(16) {
			work.Go(func() {
				random := rand.New(rand.NewPCG(seed, worker))
				for range each {
					p.step(random)
				}
			})
		}
		work.Wait()
		p.ClearFaults()
		p.Advance(time.Hour)
		p.checkHistories()
		p.checkTransfers()
		p.checkRequestIDs()
		p.checkRedemptions()
		t.Logf("%d history items, %d request ids with a response, %d redemptions, %d responses lost, %d paid twice", p.items, len(p.responses), len(p.redemptions), p.lost, len(p.PaidTwice()))
		require.NotZero(t, p.lost)
		require.NotEmpty(t, p.redemptions)
		require.Greater(t, p.items, each)
	})
}

// property is the state of the test and the responses to its callers.
type property struct {
	*caller
	accounts []string

	mu             sync.Mutex
	responses      map[string]string // body by request_id
	running        map[string]int    // requests by request_id
	overlapped     map[string]bool   // request_ids with two concurrent requests
	redemptions    []redeemed
	authorisations []string
	lost           int
	items          int
}

func newProperty(c *caller) *property {
	return &property{caller: c, responses: make(map[string]string), running: make(map[string]int), overlapped: make(map[string]bool)}
}

type redeemed struct{ account, id string }

func (p *property) step(random *rand.Rand) {
	from, to := p.accounts[random.IntN(len(p.accounts))], p.accounts[random.IntN(len(p.accounts))]
	amount := fmt.Sprintf("%d.%02d", random.IntN(40), 1+random.IntN(99))
	switch kind := random.IntN(100); {
	case kind < 35:
		id := "t" + strconv.Itoa(random.IntN(300))
		p.keyed("POST /accounts/{id}/transfer", "accounts/"+from+"/transfer", id, fmt.Sprintf(
			`{"request_id":%q,"amount":%s,"source_reference":%q,"destination_reference":"in","destination_account_id":%q,"transaction_type":%d}`,
			id, amount, id, to, 2950+random.IntN(2)), random)
	case kind < 50:
		id := "d" + strconv.Itoa(random.IntN(150))
		p.keyed("POST /accounts/{id}/directentryout", "accounts/"+from+"/directentryout", id, fmt.Sprintf(
			`{"request_id":%q,"amount":%s,"source_reference":%q,"destination_reference":"x","bsb":"633000",
			"destination_account_info":{"bsb":"633000","account_number":"1","account_name":"A"}}`, id, amount, id), random)
	case kind < 60:
		if got := p.money("funding/redemptions", p.redemption(from, amount)); got["outcome"] == "approved" {
			p.mu.Lock()
			p.redemptions = append(p.redemptions, redeemed{from, got["transaction_id"].(json.Number).String()})
			p.mu.Unlock()
		}
	case kind < 65:
		if made, ok := pick(&p.mu, &p.redemptions, random); ok {
			p.money("funding/reversals", fmt.Sprintf(`{"account_id":%q,"originating_transaction":5,"correlation_id":"c1",
				"parent_transaction_id":%s,"clearing_adjustment":false}`, made.account, made.id))
		}
	case kind < 70:
		if made, ok := pick(&p.mu, &p.redemptions, random); ok {
			text := body(p.t, p.redemption(made.account, amount), map[string]any{
				"parent_transaction_id": json.Number(made.id), "funding_exception": nil, "clearing_adjustment": nil,
			})
			p.money("funding/refunds", text)
		}
	case kind < 90:
		p.simulated(from, amount, random)
	case kind < 94:
		p.Adjust(from, amount)
	case kind < 97:
		status := []string{"active", "active", "suspected_fraud"}[random.IntN(3)]
		p.do(http.MethodPut, "accounts/"+from+"/status", fmt.Sprintf(`{"status":%q}`, status)).empty(200)
	default:
		p.Advance(time.Duration(random.IntN(60)) * time.Second)
	}
}

// keyed sends a payment with a request id that others also send, sometimes over a connection that is cut or slow. All
// responses are the same, unless two of the requests were concurrent.
func (p *property) keyed(operation, path, id, text string, random *rand.Rand) {
	if random.IntN(10) == 0 {
		p.Inject(operation, []Fault{CommitThenDrop(), DropBeforeCommit(), Truncate(), Delay(20 * time.Millisecond)}[random.IntN(4)])
	}
	p.mu.Lock()
	if p.running[id]++; p.running[id] > 1 {
		p.overlapped[id] = true
	}
	p.mu.Unlock()
	got, err := p.try(http.MethodPost, path, text, p.header(text))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[id]--
	if err != nil {
		p.lost++
		return
	}
	if got.status != http.StatusOK || strings.Contains(string(got.body), `"transaction_id":""`) {
		return // not made, and not cached
	}
	if before, known := p.responses[id]; known && !p.overlapped[id] {
		require.Equal(p.t, before, string(got.body), "another response to the same request_id")
	}
	p.responses[id] = string(got.body)
}

func (p *property) redemption(account, amount string) string {
	return body(p.t, redemptionText, map[string]any{"account_id": account, "amount": json.Number(amount)})
}

func (p *property) money(path, text string) map[string]any { return p.post(path, text).ok().object() }

func (p *property) simulated(account, amount string, random *rand.Rand) {
	operation := []string{"transact", "transact", "advice", "reverse", "clear", "reverse_clear"}[random.IntN(6)]
	changes := map[string]any{"account_id": account, "amount": json.Number(amount)}
	if authorisation, ok := pick(&p.mu, &p.authorisations, random); ok && operation != "transact" {
		changes["authorization_id"] = authorisation
	}
	got := p.money("simulation/"+operation, body(p.t,
		`{"transaction_type":"Purchase","acquirer_id":"1","merchant_id":"M","terminal_id":"T","mcc":"5812"}`, changes))
	if id, _ := got["authorization_id"].(string); id != "" {
		p.mu.Lock()
		p.authorisations = append(p.authorisations, id)
		p.mu.Unlock()
	}
}

func pick[T any](mu *sync.Mutex, from *[]T, random *rand.Rand) (T, bool) {
	mu.Lock()
	defer mu.Unlock()
	if len(*from) == 0 {
		return *new(T), false
	}
	return (*from)[random.IntN(len(*from))], true
}

func decimal(t *testing.T, text string) *big.Rat {
	t.Helper()
	value, ok := new(big.Rat).SetString(text)
	require.True(t, ok)
	return value
}

// checkHistories adds up every history as the service returns it, page by page.
func (p *property) checkHistories() {
	seen := make(map[string]bool)
	for _, account := range p.accounts {
		sum, last := new(big.Rat), ""
		for page := 1; ; page++ {
			got := p.get(fmt.Sprintf("accounts/%s/transactions?page_size=500&page_number=%d", account, page)).ok()
			for _, item := range got.list() {
				p.items++
				require.False(p.t, seen[item["id"].(string)], "an id twice")
				seen[item["id"].(string)] = true
				sum.Add(sum, decimal(p.t, item["amount"].(json.Number).String()))
				sum.Sub(sum, decimal(p.t, item["fee_amount"].(json.Number).String()))
				require.Zero(p.t, sum.Cmp(decimal(p.t, item["running_balance_amount"].(json.Number).String())), "running balance")
				require.GreaterOrEqual(p.t, item["occurred_at"], last, "time runs back")
				last = item["occurred_at"].(string)
			}
			if strconv.Itoa(page) == got.header.Get("X-TotalPages") {
				break
			}
		}
		balance := p.get("accounts/" + account).object()["balance"].(json.Number).String()
		require.Zero(p.t, sum.Cmp(decimal(p.t, balance)), "the balance is not the sum of its history")
	}
}

// checkTransfers finds the other half of each transfer between accounts.
func (p *property) checkTransfers() {
	halves := make(map[prepaid.TransactionID][]Transaction)
	for _, account := range p.accounts {
		for _, item := range p.Transactions(account) {
			if (item.Type == string(ledger.CodeLoad) || item.Type == string(ledger.CodeCardToCard)) && item.Reference != "opening balance" {
				key := item.ParentID
				if key == "" {
					key = item.ID
				}
				halves[key] = append(halves[key], item)
				if strings.HasPrefix(item.Amount, "-") {
					require.False(p.t, strings.HasPrefix(item.RunningBalance, "-"), "a transfer of money that was not there")
				}
			}
		}
	}
	require.NotEmpty(p.t, halves)
	for _, pair := range halves {
		require.Len(p.t, pair, 2)
		require.NotEqual(p.t, pair[0].AccountID, pair[1].AccountID)
		require.Zero(p.t, new(big.Rat).Add(decimal(p.t, pair[0].Amount), decimal(p.t, pair[1].Amount)).Sign())
	}
}

// checkRequestIDs counts request ids in the histories, where they are the references. Only concurrent requests may have
// moved the money more than once.
func (p *property) checkRequestIDs() {
	made := make(map[string][]string)
	for _, account := range p.accounts {
		for _, item := range p.Transactions(account) {
			if kind := item.Reference; kind != "" && strings.HasPrefix(item.Amount, "-") && (kind[0] == 't' || kind[0] == 'd') {
				made[kind] = append(made[kind], string(item.ID))
			}
		}
	}
	var twice []prepaid.RequestID
	for id, transactions := range made {
		require.Equal(p.t, len(transactions), p.Movements(id))
		if len(transactions) > 1 {
			require.True(p.t, p.overlapped[id], "a request_id was carried out twice")
			twice = append(twice, prepaid.RequestID(id))
		}
	}
	require.ElementsMatch(p.t, twice, p.PaidTwice())
	for id, response := range p.responses {
		require.True(p.t, slices.ContainsFunc(made[id], func(transaction string) bool { return strings.Contains(response, `"transaction_id":`+transaction+",") }))
	}
}

// checkRedemptions compares the amounts given back with those redeemed.
func (p *property) checkRedemptions() {
	taken, back := make(map[prepaid.TransactionID]*big.Rat), make(map[prepaid.TransactionID]*big.Rat)
	for _, account := range p.accounts {
		for _, item := range p.Transactions(account) {
			switch item.Type {
			case string(ledger.CodeFundingRedemption):
				taken[item.ID], back[item.ID] = decimal(p.t, item.Amount), new(big.Rat)
			case string(ledger.CodeFundingReversal), string(ledger.CodeFundingRefund):
				back[item.ParentID].Add(back[item.ParentID], decimal(p.t, item.Amount))
			}
		}
	}
	require.Len(p.t, taken, len(p.redemptions))
	for id, sum := range taken {
		require.LessOrEqual(p.t, new(big.Rat).Add(sum, back[id]).Sign(), 0, "more came back than was taken")
	}
}
