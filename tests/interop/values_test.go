package interop

import (
	"bytes"
	"encoding/gob"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/fxamacker/cbor/v2"
	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/jinzhu/copier"
	"github.com/mitchellh/copystructure"
	mohae "github.com/mohae/deepcopy"
	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"
	"github.com/vmihailenco/msgpack/v5"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/cardprograms/prepaid"
)

// stored has values in every place from which a library may copy them. The library's names are the fields' in lower case.
type stored[T any] struct {
	Value   T                       `cbor:"value" dynamodbav:"value" msgpack:"value" toml:"value"`
	Pointer *T                      `cbor:"pointer" dynamodbav:"pointer" msgpack:"pointer" toml:"pointer"`
	List    []T                     `cbor:"list" dynamodbav:"list" msgpack:"list" toml:"list"`
	Map     map[string]T            `cbor:"map" dynamodbav:"map" msgpack:"map" toml:"map"`
	Params  *prepaid.TransferParams `cbor:"params" dynamodbav:"params" msgpack:"params" toml:"params"`
}

func storedOf[T any](value T) stored[T] {
	return stored[T]{value, &value, []T{value}, map[string]T{"a": value}, &prepaid.TransferParams{
		Amount: prepaid.Cents(2550), SourceReference: "s", LastSent: time.Date(2026, 11, 3, 1, 2, 3, 0, time.UTC),
	}}
}

// through passes from through each library, into a copy.
func through[T any](from stored[T]) map[string]func(to *stored[T]) error {
	encoded := func(marshal func(any) ([]byte, error), unmarshal func([]byte, any) error) func(*stored[T]) error {
		return func(to *stored[T]) error {
			data, err := marshal(from)
			if err == nil {
				err = unmarshal(data, to)
			}
			return err
		}
	}
	copied := func(deepCopy func(any) (any, error)) func(*stored[T]) error {
		return func(to *stored[T]) error {
			made, err := deepCopy(from)
			if err == nil {
				*to = made.(stored[T])
			}
			return err
		}
	}
	return map[string]func(*stored[T]) error{
		"bson":          encoded(bson.Marshal, bson.Unmarshal),
		"cbor":          encoded(cbor.Marshal, cbor.Unmarshal),
		"msgpack":       encoded(msgpack.Marshal, msgpack.Unmarshal),
		"toml":          encoded(toml.Marshal, toml.Unmarshal),
		"yaml":          encoded(yaml.Marshal, yaml.Unmarshal),
		"copystructure": copied(copystructure.Copy),
		"mohae":         copied(func(from any) (any, error) { return mohae.Copy(from), nil }),
		"copier":        func(to *stored[T]) error { return copier.CopyWithOption(to, from, copier.Option{DeepCopy: true}) },
		"dynamodb": func(to *stored[T]) error {
			item, err := attributevalue.MarshalMap(from)
			if err == nil {
				err = attributevalue.UnmarshalMap(item, to)
			}
			return err
		},
		"gob": func(to *stored[T]) error {
			var data bytes.Buffer
			err := gob.NewEncoder(&data).Encode(from)
			if err == nil {
				err = gob.NewDecoder(&data).Decode(to)
			}
			return err
		},
	}
}

// Libraries that store or copy values keep amounts and days, in structs of the caller and of the SDK.
func TestValuesInStores(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"25.50", "-0.125", "0", "9999999999999999999", "-9999999999999999999", "0.0000000000000000001"} {
		keeps(t, prepaid.MustAmount(text))
	}
	keeps(t, prepaid.Date{Year: 2026, Month: time.November, Day: 3})
	require.NotEmpty(t, cmp.Diff(storedOf(prepaid.Cents(1)), storedOf(prepaid.Cents(2))))
	account := func(city, program string) prepaid.Account {
		return prepaid.Account{
			Cardholder:       &prepaid.Cardholder{AlternateAddress: &prepaid.AlternateAddress{City: city}},
			PortalIdentifier: &prepaid.PortalIdentifier{ProgramID: program},
		}
	}
	require.Empty(t, cmp.Diff(account("a", "b"), account("a", "b")))
	require.NotEmpty(t, cmp.Diff(account("a", "b"), account("c", "b")))
	require.NotEmpty(t, cmp.Diff(account("a", "b"), account("a", "c")))
}

func keeps[T any](t *testing.T, value T) {
	t.Helper()
	want := storedOf(value)
	for name, copied := range through(want) {
		var got stored[T]
		require.NoError(t, copied(&got), name)
		got.Params.LastSent = got.Params.LastSent.UTC()
		require.Equal(t, want, got, name)
		require.Empty(t, cmp.Diff(want, got), name)
	}
}

// A secret is copied, or refused when it is written or read. It is never written. Of DynamoDB it comes back empty.
func TestSecretsInStores(t *testing.T) {
	t.Parallel()
	const canary = "s3cr3t-c4n4ry-of-thirty-two-byte"
	secret := prepaid.NewSecret(canary)
	for name, copied := range through(storedOf(secret)) {
		var got stored[prepaid.Secret]
		err := copied(&got)
		switch name {
		case "copier", "copystructure", "mohae":
			require.NoError(t, err, name)
			require.Empty(t, cmp.Diff(storedOf(secret), got), name)
		case "dynamodb":
			require.NoError(t, err)
			require.True(t, got.Value.IsZero())
		default:
			require.Error(t, err, name)
			require.NotContains(t, err.Error(), canary, name)
		}
	}
	key, err := prepaid.EphemeralKeyFrom([]byte(canary))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(storedOf(key), mohae.Copy(storedOf(key))))
}

// An earlier build wrote an amount as an empty document. It must not be read as 0.00.
func TestEmptyDocumentsAreNoAmounts(t *testing.T) {
	t.Parallel()
	type empty struct{}
	item, err := attributevalue.MarshalMap(storedOf(empty{}))
	require.NoError(t, err)
	var amount stored[prepaid.Amount]
	var secret stored[prepaid.Secret]
	require.Error(t, attributevalue.UnmarshalMap(item, &amount))
	require.Error(t, attributevalue.UnmarshalMap(item, &secret))
	for name, library := range map[string]struct {
		marshal   func(any) ([]byte, error)
		unmarshal func([]byte, any) error
	}{
		"bson":    {bson.Marshal, bson.Unmarshal},
		"cbor":    {cbor.Marshal, cbor.Unmarshal},
		"msgpack": {msgpack.Marshal, msgpack.Unmarshal},
		"yaml":    {yaml.Marshal, yaml.Unmarshal},
	} {
		data, err := library.marshal(storedOf(empty{}))
		require.NoError(t, err, name)
		require.Error(t, library.unmarshal(data, &amount), name)
		require.Error(t, library.unmarshal(data, &secret), name)
	}
}

// MongoDB compares and adds what it stores, and other programs write other numbers.
func TestAmountsInMongoDB(t *testing.T) {
	t.Parallel()
	decimal := func(text string) bson.Decimal128 {
		made, err := bson.ParseDecimal128(text)
		require.NoError(t, err)
		return made
	}
	data, err := bson.Marshal(bson.M{"value": prepaid.MustAmount("-25.5")})
	require.NoError(t, err)
	require.Equal(t, decimal("-25.50"), bson.Raw(data).Lookup("value").Decimal128())
	for value, want := range map[any]string{
		"25.5": "25.50", int32(-7): "-7.00", int64(8): "8.00", decimal("25.500"): "25.50", decimal("1E3"): "1000.00", decimal("-0E-9"): "0.00",
		1.5: "", true: "", "1e5": "", decimal("NaN"): "", decimal("-Infinity"): "", decimal("1234567890123456789012345678901234"): "", decimal("1E19"): "",
	} {
		data, err := bson.Marshal(bson.M{"value": value})
		require.NoError(t, err)
		var got stored[prepaid.Amount]
		err = bson.Unmarshal(data, &got)
		require.Equal(t, want == "", err != nil, "%v: %v", value, err)
		require.True(t, err != nil || got.Value.String() == want, "%v", value)
	}
	data, err = bson.Marshal(bson.M{"value": nil})
	require.NoError(t, err)
	require.Error(t, bson.Unmarshal(data, &stored[prepaid.Amount]{}))
}
