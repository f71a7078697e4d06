package prepaidpg

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// failure returns err, if it is not nil, without the values that Postgres adds to its errors, such as the key of a row.
func failure(step string, err error) error {
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		short := *refused
		short.Detail, short.Where, short.InternalQuery, short.Hint = "", "", "", ""
		err = &short
	}
	return fmt.Errorf("prepaidpg: %s: %w", step, err)
}
