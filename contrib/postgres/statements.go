package prepaidpg

import (
	"strings"

	"github.com/cardprograms/prepaid/journal"
)

// Times go in as intervals in microseconds and are counted from Postgres's clock, which is the only one that decides.

// durable makes the commit of a transaction durable whatever its session has set.
const durable = `select set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on'
	else current_setting('synchronous_commit') end, true)`

// impatient bounds the wait for a row that a transaction of the caller has locked.
const impatient = `select set_config('lock_timeout', '500ms', true)`

// planned is for a claim: a plan that was made before the table was analysed must not read the whole table.
const planned = `select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
	set_config('enable_sort', 'off', true), now()`

// unplanned ends what planned has set.
const unplanned = `select set_config('enable_seqscan', null, true), set_config('enable_bitmapscan', null, true),
	set_config('enable_sort', null, true)`

// newSQL returns what replaces, in statements, the schema, the columns of an entry and the rules of package journal. {fence} is how far
// the number of a lease moves on. It is random, so that no number is given again after a claim whose commit was lost, such as in a
// failover.
func newSQL(schema string) *strings.Replacer {
	var begin strings.Builder
	var open, pending []string
	for _, s := range journal.States() {
		quoted := "'" + string(s) + "'"
		if s.Open() {
			open = append(open, quoted)
		}
		if s.Pending() {
			pending = append(pending, quoted)
		}
		if next, ok := s.Next(journal.EventBegin); ok {
			begin.WriteString(" when " + quoted + " then '" + string(next) + "'")
		}
	}
	return strings.NewReplacer("{s}", schema, "{columns}", columns, "{begin}", begin.String(), "{pending}", strings.Join(pending, ", "),
		"{fence}", "1 + floor(random() * 1000000000000)::bigint", "{rests}", "(resolved or state in ("+strings.Join(open, ", ")+"))")
}
