package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func TestE2EMerchantCategoryCodes(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		page, err := s.client.Policy.MerchantCategoryCodesPage(t.Context(), prepaid.Paging{Size: 10})
		require.NoError(t, err)
		require.Equal(t, prepaid.MerchantCategory{Code: "0742", Description: "Veterinary services"}, page.Items[0], "742 on the wire")
		require.Equal(t, []int{1, 10, 10}, []int{page.Number, page.Size, len(page.Items)})
		require.Positive(t, page.TotalPages)
		for _, prefetch := range []int{0, 4} {
			seen := map[prepaid.MCC]bool{}
			params := prepaid.Paging{Size: 10, Prefetch: prefetch}
			for code, err := range s.client.Policy.MerchantCategoryCodes(t.Context(), params) {
				require.NoError(t, err)
				require.NotEmpty(t, code.Description)
				seen[code.Code] = true
			}
			require.Len(t, seen, page.TotalItems)
		}
		_, err = s.client.Policy.MerchantCategoryCodesPage(t.Context(), prepaid.Paging{Page: 1000})
		refused(t, err, 400, "invalid_request")
	})
}
