package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

func TestAnOpenLoopBlocksWhatAClosedOneAllows(t *testing.T) {
	t.Parallel()
	books := ledger.New(ledger.Options{})
	policies := New(books)
	l := books.Lock()
	defer l.Unlock()
	for id, kind := range map[int64]string{1: Open, 2: Closed, 3: None} {
		policies.Configure(l, l.PutCompany(ledger.CompanyData{ID: id, Loop: kind}))
		p := policies.Of(l.View, id)
		if kind == None {
			require.Nil(t, p)
			continue
		}
		p.AddCategories([]int64{742, 742})
		policies.AddMerchants(p, []MerchantRule{{AcquirerID: 1, CardAcceptorID: "M"}, {AcquirerID: 1, CardAcceptorID: "M"}})
		policies.AddTerminals(p, []TerminalRule{{AcquirerID: 2, CardAcceptorID: "N", TerminalID: "T"}})
		require.Len(t, p.Categories, 1)
		require.Len(t, p.Merchants, 1)
	}
	require.Equal(t, int64(4), policies.LastRule, "each rule has its own number")
	for _, listed := range []ledger.Merchant{
		{MerchantCategoryCode: "0742"}, {AcquirerID: "1", CardAcceptorID: "M", MerchantCategoryCode: "5411"}, {AcquirerID: "2", CardAcceptorID: "N", TerminalID: "T"},
	} {
		require.False(t, policies.Approve(l.View, 1, listed))
		require.True(t, policies.Approve(l.View, 2, listed))
		require.True(t, policies.Approve(l.View, 3, listed))
	}
	for _, other := range []ledger.Merchant{{MerchantCategoryCode: "742"}, {AcquirerID: "x", CardAcceptorID: "M"}, {AcquirerID: "2", CardAcceptorID: "N", TerminalID: "U"}} {
		require.True(t, policies.Approve(l.View, 1, other))
		require.False(t, policies.Approve(l.View, 2, other))
	}

	saved := policies.Save(l.View, 2)
	policies.Configure(l, l.PutCompany(ledger.CompanyData{ID: 2, Loop: Open}))
	require.False(t, policies.Of(l.View, 2).Closed, "the rules stay")
	require.True(t, saved.Closed, "a copy")
	policies.Restore(l, 3, saved)
	require.Same(t, saved, policies.Of(l.View, 3))
	require.Nil(t, policies.Save(l.View, 9))
	policies.Configure(l, l.PutCompany(ledger.CompanyData{ID: 3, Loop: None}))
	require.Nil(t, policies.Of(l.View, 3))
}
