package prepaid

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTransactionIDJSON(t *testing.T) {
	t.Parallel()
	eachJSON(t, func(t *testing.T, lib jsonLibrary) {
		for _, test := range []struct {
			in   string
			want TransactionID
		}{
			{`12`, "12"},
			{`12.0`, "12"},
			{`1.2e1`, "12"},
			{`12E0`, "12"},
			{`0`, "0"},
			{`-0`, "0"},
			{`0.0`, "0"},
			{`-7`, "-7"},
			{`9007199254740993`, "9007199254740993"}, // 2^53 + 1: a float64 would lose the 1
			{`9007199254740993.0`, "9007199254740993"},
			{`9223372036854775807`, "9223372036854775807"},
			{`18446744073709551616`, "18446744073709551616"},
			{`123456789012345678901234567890`, "123456789012345678901234567890"},
			{`12.5`, "12.5"},
			{`1e400`, "1e400"},
			{`"12"`, "12"},
			{`"12.0"`, "12.0"}, // text is kept as it came
			{`"00012"`, "00012"},
			{`"9007199254740993"`, "9007199254740993"},
			{`"b3f1-7\/x"`, "b3f1-7/x"},
			{`""`, ""},
			{`null`, ""},
		} {
			id := TransactionID("before")
			require.NoError(t, lib.unmarshal([]byte(test.in), &id), test.in)
			require.Equal(t, test.want, id, test.in)
			out, err := lib.marshal(id)
			require.NoError(t, err)
			require.Equal(t, `"`+string(id)+`"`, string(out))
			var back TransactionID
			require.NoError(t, lib.unmarshal(out, &back))
			require.Equal(t, id, back)
		}
		for _, in := range []string{`true`, `false`, `{}`, `[12]`} {
			id := TransactionID("before")
			require.ErrorIs(t, lib.unmarshal([]byte(in), &id), ErrTransactionIDSyntax, in)
			require.Equal(t, TransactionID("before"), id)
		}

		var body struct {
			ID     TransactionID `json:"id"`
			Parent TransactionID `json:"parent_id"`
		}
		require.NoError(t, lib.unmarshal([]byte(`{"id":12}`), &body))
		require.Equal(t, TransactionID("12"), body.ID)
		require.Empty(t, body.Parent)
	})
	for _, in := range []string{``, `012`, `1x`, `-`, `"`} {
		require.ErrorIs(t, new(TransactionID).UnmarshalJSON([]byte(in)), ErrTransactionIDSyntax, in)
	}
}

func TestTransactionNumber(t *testing.T) {
	t.Parallel()
	eachJSON(t, func(t *testing.T, lib jsonLibrary) {
		type body struct {
			Parent transactionNumber `json:"parent_transaction_id,omitzero"`
		}
		for _, id := range []TransactionID{"0", "12", "-12", "9007199254740993", "123456789012345678901234567890"} {
			require.True(t, id.numeric(), string(id))
			out, err := lib.marshal(body{transactionNumber(id)})
			require.NoError(t, err)
			require.Equal(t, `{"parent_transaction_id":`+string(id)+`}`, string(out))
		}
		for _, id := range []TransactionID{"", "-", "-0", "00", "012", "-012", "12.0", "1e3", "+1", " 1", "abc", "0x1", "1-", "٣"} {
			require.False(t, id.numeric(), string(id))
			_, err := lib.marshal([]transactionNumber{transactionNumber(id)})
			require.ErrorIs(t, err, ErrTransactionIDSyntax, string(id))
		}
		out, err := lib.marshal(body{})
		require.NoError(t, err)
		require.Equal(t, `{}`, string(out))
	})
}

func TestAccountAndCompanyIDJSON(t *testing.T) {
	t.Parallel()
	eachJSON(t, func(t *testing.T, lib jsonLibrary) {
		type body struct {
			Account AccountID   `json:"account_id"`
			Company CompanyID   `json:"company_id"`
			Scope   []CompanyID `json:"scope"`
		}
		const wire = `{"account_id":"00123","company_id":9007199254740993,"scope":[1,2]}`
		var b body
		require.NoError(t, lib.unmarshal([]byte(wire), &b))
		require.Equal(t, body{"00123", 9007199254740993, []CompanyID{1, 2}}, b)
		out, err := lib.marshal(b)
		require.NoError(t, err)
		require.Equal(t, wire, string(out))
	})
}
