package internal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/policy"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

func TestAPolicyIsConfiguredAndSaved(t *testing.T) {
	t.Parallel()
	books := ledger.New(ledger.Options{})
	policies := policy.New(books)
	l := books.Lock()
	defer l.Unlock()
	configure := func(loop state.Loop) { policies.Configure(l, l.PutCompany(state.Company{ID: 2, Loop: loop})) }
	configure(state.ClosedLoop)
	policies.Of(l.View, 2).AddCategories([]int64{742})
	require.True(t, policies.Approve(l.View, 2, ledger.Merchant{MerchantCategoryCode: "0742"}))
	require.False(t, policies.Approve(l.View, 2, ledger.Merchant{MerchantCategoryCode: "742"}), "a code has four digits")
	saved := policies.Save(l.View, 2)
	configure(state.OpenLoop)
	require.False(t, policies.Of(l.View, 2).Closed)
	require.Equal(t, []int64{742}, policies.Of(l.View, 2).Categories, "the rules stay")
	require.True(t, saved.Closed, "a copy")
	configure(state.NoPolicy)
	require.Nil(t, policies.Of(l.View, 2))
}
