package openapi

import (
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// enums are the lists of values that several objects share: a generated client has one type for each list.
func enums() wire.Ordered[*wire.Schema] {
	made := func(name, section string, values ...string) wire.Member[*wire.Schema] {
		one := word(values...)
		one.Reference = section
		return wire.Member[*wire.Schema]{Name: name, Value: one}
	}
	return wire.Ordered[*wire.Schema]{
		made("AccountStatus", "3.1", state.AccountStatuses()...),
		made("ProductType", "2.2", productTypes()...),
		made("PolicyAction", "2.10", "allow", "deny"),
		made("RestrictionRuleType", "2.10", "must_allow", "must_block"),
		made("ReliabilityMode", "2.13", "none", "store_undeliverable"),
		made("SimulatedTransactionType", "2.15", "Purchase", "Withdrawal", "PosCredit"),
		made("OAEPHashingAlgorithm", "4.7", "SHA256", "SHA512"),
	}
}

// nameTypes replaces amounts and shared lists of values in members and parameters by a $ref, and adds the lists.
func (b *builder) nameTypes(paths wire.Ordered[*path]) {
	named := enums()
	replace := func(schema *wire.Schema) {
		i := slices.IndexFunc(named, func(m wire.Member[*wire.Schema]) bool { return slices.Equal(m.Value.Enum, schema.Enum) })
		if slices.Equal(schema.Type, wire.Types{"number"}) {
			schema.Ref, schema.Type = amount().Ref, nil
		}
		if i >= 0 {
			schema.Ref, schema.Type, schema.Enum = ref(named[i].Name).Ref, nil, nil
		}
	}
	for _, object := range b.schemas {
		for _, member := range object.Value.Properties {
			replace(member.Value)
		}
	}
	for _, p := range paths {
		for _, operation := range *p.Value {
			for i := range operation.Value.Parameters {
				replace(operation.Value.Parameters[i].Schema)
			}
		}
	}
	b.schemas = append(b.schemas, named...)
}
