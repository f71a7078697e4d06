package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTableRows(t *testing.T) {
	t.Parallel()
	rows := tableRows("m.md", "# Title\n\n| Wire | Type | Go |\n|---|---|---|\n"+
		"| `id` | string | `client.ID`, `client.B.ID` |\n| — | | `Config` |\n\nText with `A.X`.\n\n- `A`, `B`: `id n=No`\n\n| Other |\n|---|\n| `x` |\n")
	require.Equal(t, []row{
		{place: "m.md:5", wire: "id", names: []string{"Client.ID", "BService.ID"}},
		{place: "m.md:6", own: true, names: []string{"Config"}},
		{place: "m.md:10", wire: "id", names: []string{"A.id"}}, {place: "m.md:10", wire: "n", names: []string{"A.No"}},
		{place: "m.md:10", wire: "id", names: []string{"B.id"}}, {place: "m.md:10", wire: "n", names: []string{"B.No"}},
	}, rows)
}

const tableSource = `
package p

type Card struct {
	ID   string ` + "`json:\"id\"`" + `
	Note string
}

type Word string

const (
	WordOne Word = "one"
	Loose        = "loose"
)

type Config struct {
	Path string ` + "`json:\"path\"`" + `
}

var ErrLost = 1

type LostError struct{}

func (LostError) Error() string { return "" }

type CardsService struct{}

func (s *CardsService) Get(ctx context.Context) {}
`

func TestTableFaults(t *testing.T) {
	t.Parallel()
	const title = "| Wire | Go |\n|---|---|\n"
	const goodMap = title + "| `GET /cards` | `CardsService.Get` |\n| `id` | `Card.ID` |\n| `one` | `WordOne` |\n| — | `Config` |\n"
	const goodErrors = title + "| `lost` | `ErrLost`, `LostError` |\n"
	for name, c := range map[string]struct {
		reference, errors string
		faults            []string
	}{
		"all is well": {reference: goodMap, errors: goodErrors},
		"a name that does not exist": {
			reference: goodMap + "| `x` | `Card.X` |\n", errors: goodErrors,
			faults: []string{"map:7: Card.X does not exist"},
		},
		"another member and another value": {
			reference: goodMap + "| `number` | `Card.ID` |\n| `two` | `WordOne` |\n", errors: goodErrors,
			faults: []string{
				`map:7: Card.ID stands for "id", not for "number"`,
				`map:8: WordOne stands for "one", not for "two"`,
			},
		},
		"lists of members": {
			reference: goodMap + "\n- `Card`: `id number two=ID`\n- `Word`: `one=One one`\n", errors: goodErrors,
			faults: []string{"map:8: Card.number does not exist", `map:8: Card.ID stands for "id", not for "two"`},
		},
		"nothing is named": {
			reference: title, errors: title,
			faults: []string{
				"field Card.ID is not in the reference map",
				"constant WordOne is not in the reference map",
				"field Config.Path is not in the reference map",
				"variable ErrLost is not in the error catalogue",
				"type LostError is not in the error catalogue",
				"method CardsService.Get is not in the reference map",
			},
		},
		"an error in the map only": {
			reference: goodMap + "| `lost` | `ErrLost` |\n", errors: title + "| `lost` | `LostError` |\n",
			faults: []string{"variable ErrLost is not in the error catalogue"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults := tableFaults(symbolsOf(t, tableSource, false), tableRows("map", c.reference), tableRows("errors", c.errors))
			require.Len(t, faults, len(c.faults), faults)
			for i, fault := range faults {
				require.Contains(t, fault, c.faults[i])
			}
		})
	}
}

func TestOtherPackagesOweTheirErrorsOnly(t *testing.T) {
	t.Parallel()
	faults := tableFaults(symbolsOf(t, tableSource, true), nil, nil)
	slices.Sort(faults)
	require.Len(t, faults, 2)
	require.Contains(t, faults[0], "variable p.ErrLost is not in the error catalogue")
	require.Contains(t, faults[1], "type p.LostError is not in the error catalogue")
}
