package internal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/policy"
)

func TestAPolicyIsConfiguredAndSaved(t *testing.T) {
	t.Parallel()
	books := ledger.New(ledger.Options{})
	policies := policy.New(books)
	l := books.Lock()
	defer l.Unlock()
	configure := func(loop string) { policies.Configure(l, l.PutCompany(ledger.CompanyData{ID: 2, Loop: loop})) }
	configure(policy.Closed)
	policies.Of(l.View, 2).AddCategories([]int64{742})
	require.True(t, policies.Approve(l.View, 2, ledger.Merchant{MerchantCategoryCode: "0742"}))
	require.False(t, policies.Approve(l.View, 2, ledger.Merchant{MerchantCategoryCode: "742"}), "a code has four digits")
	saved := policies.Save(l.View, 2)
	configure(policy.Open)
	require.False(t, policies.Of(l.View, 2).Closed)
	require.Equal(t, []int64{742}, policies.Of(l.View, 2).Categories, "the rules stay")
	require.True(t, saved.Closed, "a copy")
	configure(policy.None)
	require.Nil(t, policies.Of(l.View, 2))
}
