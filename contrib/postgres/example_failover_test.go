package prepaidpg_test

import (
	"context"
	"fmt"

	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
)

// Call it once on a promoted standby, or after a restore, before workers start there.
func ExampleStore_Recover() {
	recovered := func(ctx context.Context, store *prepaidpg.Store) error {
		n, err := store.Recover(ctx)
		fmt.Println(n, "pending payments count as sent")
		return err
	}
	_ = recovered
}
