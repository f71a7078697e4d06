package prepaidvcr

import (
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// pseudonyms numbers the values of one cassette in order of appearance. A pseudonym depends only on the number and form
// of the value, so that the value cannot be computed from it. The keys of the map are seeded hashes, so that no value is kept in memory.
type pseudonyms struct {
	seed    maphash.Seed
	numbers map[uint64]int
}

func newPseudonyms() *pseudonyms {
	return &pseudonyms{seed: maphash.MakeSeed(), numbers: map[uint64]int{}}
}

func (p *pseudonyms) number(value string) int {
	id := maphash.String(p.seed, value)
	if p.numbers[id] == 0 {
		p.numbers[id] = len(p.numbers) + 1
	}
	return p.numbers[id]
}

var uuidText = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// stand returns the pseudonym of a value. It has the value's form only where the client, or the next call, needs it.
func (p *pseudonyms) stand(l leaf) string {
	switch {
	case strings.Trim(l.value, "0") == "":
		return l.value // a zero, such as the ID of a payment whose outcome is unknown, or an empty text
	case !l.number && l.constant != "":
		return l.constant
	case !l.number && isDate(l.value):
		return someDay
	}
	n := p.number(l.value)
	name := "ANON" + strconv.Itoa(n)
	switch {
	case l.number:
		return numberFor(n, l.value)
	case ascii.IsDigits(l.value):
		return digitsFor(n, len(l.value))
	case uuidText.MatchString(l.value):
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
	case strings.HasPrefix(l.value, "<"):
		return "<" + name + ">" // the "<" distinguishes a proxy's page from a response
	case strings.HasPrefix(l.value, "https://"):
		return "https://example.com/" + name
	case strings.Contains(l.value, "@"):
		return name + "@example.com"
	}
	return name
}

// numberFor returns a number that is a whole number, or below zero, if value is.
func numberFor(n int, value string) string {
	digits := strings.TrimPrefix(value, "-")
	text := value[:len(value)-len(digits)] + digitsFor(n, len(digits))
	if !ascii.IsDigits(digits) {
		return text + ".5"
	}
	return text
}

// digitsFor returns a number of at least nine digits, which fits in 32 bits. A number of 19 digits may fit in 64, but 99… would not.
func digitsFor(n, length int) string {
	if length == 19 {
		length = 18
	}
	return fmt.Sprintf("99%0*d", max(length, 9)-2, n)
}

// distinguishes reports whether a pseudonym, also one of an earlier version, identifies its value. Constants, zeros and dates do not.
func distinguishes(pseudonym string) bool {
	return strings.Trim(pseudonym, "0") != "" && !isDate(pseudonym) && !slices.Contains([]string{"ANON", "ZZ", "ZZZ", "F"}, pseudonym)
}
