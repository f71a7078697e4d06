package prepaidvcr

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/internal/wire"
)

// form is the form of a pseudonym. The client accepts the pseudonym where it accepted the value.
type form uint8

const (
	formByValue form = iota // by the value's own form
	formZeros               // as many zeros as a short value has characters
	formState               // at most six characters
	formAlpha2              // a country
	formAlpha3              // a country in a passport
	formSex                 // one of two
	formDate                // a date, for a value of any form
	formFuture              // a date in the future
	formCSV                 // a table, cell by cell
)

// constant returns the text that replaces every value, if the form is too short to distinguish values.
func (f form) constant() (string, bool) {
	switch f {
	case formState:
		return stateConstant, true
	case formAlpha2:
		return alpha2Constant, true
	case formAlpha3:
		return alpha3Constant, true
	case formSex:
		return sexConstant, true
	}
	return "", false
}

const (
	stateConstant  = "ANON"
	alpha2Constant = "ZZ"
	alpha3Constant = "ZZZ"
	sexConstant    = "F"
)

// pseudonyms numbers the values of one cassette in order of appearance. A pseudonym depends only on the number and form
// of the value, so that the value cannot be computed from it. The keys of the map are keyed hashes, so that no value is
// kept in memory.
type pseudonyms struct {
	key     []byte
	numbers map[[sha256.Size]byte]int
}

func newPseudonyms() *pseudonyms {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return &pseudonyms{key: key, numbers: map[[sha256.Size]byte]int{}}
}

func (p *pseudonyms) number(value string) int {
	sum := hmac.New(sha256.New, p.key)
	sum.Write([]byte(value))
	id := [sha256.Size]byte(sum.Sum(nil))
	if p.numbers[id] == 0 {
		p.numbers[id] = len(p.numbers) + 1
	}
	return p.numbers[id]
}

const (
	// maxZeros is the longest value that formZeros fills.
	maxZeros = 8
	// leastDigits is the length of the shortest pseudonym of digits, which fits in 32 bits.
	leastDigits = 9
	// cardIDPrefix is the prefix of account IDs.
	cardIDPrefix = "EA"
	// leastHex is the length of the shortest text treated as hex data.
	leastHex = 16
)

var (
	digitsOnly  = regexp.MustCompile(`^[0-9]+$`)
	decimalText = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	groupedText = regexp.MustCompile(`^[0-9 *xX+().•/-]*[0-9][0-9 *xX+().•/-]*$`)
	hexText     = regexp.MustCompile(`^([0-9a-f]+|[0-9A-F]+)$`)
	uuidText    = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
	cardIDText  = regexp.MustCompile(`^EA-?[0-9]{6,}$`)
	upperText   = regexp.MustCompile(`^[^\p{Ll}]*\p{Lu}[^\p{Ll}]*$`)
)

// stand returns the pseudonym of value. An empty value has none.
func (p *pseudonyms) stand(value string, f form) string {
	if text, ok := f.constant(); ok && value != "" {
		return text
	}
	if f == formZeros && len(value) <= maxZeros || value == "" {
		return strings.Repeat("0", len(value))
	}
	switch n := p.number(value); {
	case f == formDate || f == formFuture:
		return dateFor(n, f, len(value) != len(time.DateOnly))
	case uuidText.MatchString(value):
		return uuidFor(n)
	case looksLikeDate(value):
		return dateFor(n, f, len(value) != len(time.DateOnly))
	case digitsOnly.MatchString(value):
		return digitsFor(n, readableDigits(len(value)))
	case decimalText.MatchString(value):
		return decimalFor(n, value)
	case cardIDText.MatchString(value):
		return cardIDPrefix + digitsFor(n, countDigits(value))
	case isAddress(value):
		return addressFor(n, strings.Contains(value, ":"))
	case groupedText.MatchString(value) && countDigits(value) >= leastDigits:
		return regroup(value, digitsFor(n, countDigits(value)))
	case len(value) >= leastHex && len(value)%2 == 0 && hexText.MatchString(value):
		return hexFor(n, len(value))
	case strings.HasPrefix(strings.TrimSpace(value), "<"):
		return "<" + nameFor(n, false) + ">" // the "<" distinguishes a proxy's page from a response
	case isEmail(value):
		return nameFor(n, false) + "@example.com"
	case strings.HasPrefix(value, "https://") || strings.HasPrefix(value, "http://"):
		return "https://example.com/" + nameFor(n, false)
	default:
		return nameFor(n, upperText.MatchString(value))
	}
}

// digitsStand returns the pseudonym of a JSON number.
func (p *pseudonyms) digitsStand(value string) string {
	if digitsOnly.MatchString(value) {
		return digitsFor(p.number(value), min(len(value), mostNumberDigits))
	}
	return digitsFor(p.number(value), leastDigits)
}

// mostNumberDigits is the greatest length at which all numbers fit in 64 bits.
const mostNumberDigits = 18

// readableDigits returns the length of a pseudonym for a text with a given number of digits. The client may read a text of
// 19 digits as a number of 64 bits, but 99… would overflow this number. It reads longer texts as texts.
func readableDigits(length int) int {
	if length == mostNumberDigits+1 {
		return mostNumberDigits
	}
	return length
}

var (
	namePseudonym    = regexp.MustCompile(`^(anon|ANON)[1-9][0-9]*$`)
	uuidPseudonym    = regexp.MustCompile(`^00000000-0000-4000-8000-[0-9]{12}$`)
	decimalPseudonym = regexp.MustCompile(`^-?([0-9]+)(\.0+)?$`)
	addressPseudonym = regexp.MustCompile(`^(198\.18\.[0-9]{1,3}\.[0-9]{1,3}|2001:db8::[0-9a-f]{1,8})$`)
)

// isPseudonym reports whether value can be a result of stand.
func isPseudonym(value string, f form) bool {
	if text, ok := f.constant(); ok {
		return value == text || value == ""
	}
	if f == formZeros && len(value) <= maxZeros {
		return strings.Trim(value, "0") == ""
	}
	if f == formDate || f == formFuture {
		return value == "" || isDatePseudonym(value)
	}
	if match := decimalPseudonym.FindStringSubmatch(value); match != nil {
		return isDigitsPseudonym(match[1]) || isHexPseudonym(value)
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(value, "https://example.com/"), "@example.com")
	if len(value) > 1 && value[0] == '<' {
		inner = strings.TrimSuffix(value[1:], ">")
	}
	switch {
	case value == "", namePseudonym.MatchString(inner), uuidPseudonym.MatchString(value):
		return true
	case looksLikeDate(value):
		return isDatePseudonym(value)
	case addressPseudonym.MatchString(value):
		return isAddress(value)
	case groupedText.MatchString(value), cardIDText.MatchString(value):
		return isDigitsPseudonym(onlyDigits(value))
	}
	return false
}

func nameFor(n int, upper bool) string {
	if upper {
		return "ANON" + strconv.Itoa(n)
	}
	return "anon" + strconv.Itoa(n)
}

// decimalFor keeps the sign and the number of decimals.
func decimalFor(n int, value string) string {
	sign := ""
	if value[0] == '-' {
		sign, value = "-", value[1:]
	}
	whole, fraction, _ := strings.Cut(value, ".")
	text := sign + digitsFor(n, len(whole))
	if fraction != "" {
		text += "." + strings.Repeat("0", min(len(fraction), maxZeros))
	}
	return text
}

func uuidFor(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// checked returns n with two check digits, which distinguish the result from real numbers.
func checked(n int) string { return fmt.Sprintf("%d%02d", n, n*37%97) }

// digitsFor returns a number with the given length, but at least nine digits.
func digitsFor(n, length int) string {
	text := checked(n)
	return "99" + strings.Repeat("0", max(0, max(length, leastDigits)-2-len(text))) + text
}

func isDigitsPseudonym(digits string) bool {
	n, ok := uncheck(strings.TrimPrefix(digits, "99"))
	return ok && len(digits) >= leastDigits && digits == digitsFor(n, len(digits))
}

func hexFor(n, length int) string {
	text := checked(n)
	return strings.Repeat("0", max(0, length-len(text))) + text
}

func isHexPseudonym(value string) bool {
	n, ok := uncheck(value)
	return ok && len(value) >= leastHex && value == hexFor(n, len(value))
}

func uncheck(digits string) (int, bool) {
	digits = strings.TrimLeft(digits, "0")
	if len(digits) < 3 || len(digits) > leastDigits {
		return 0, false
	}
	n, err := strconv.Atoi(digits[:len(digits)-2])
	return n, err == nil && checked(n) == digits
}

// firstDay returns a day long before any birth; for formFuture, a day long after any card's expiry.
func firstDay(f form) time.Time {
	if f == formFuture {
		return time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
}

const (
	pastDays   = 7000
	futureDays = 300
)

func dateFor(n int, f form, withTime bool) string {
	days := pastDays
	if f == formFuture {
		days = futureDays
	}
	return formatDate(firstDay(f).AddDate(0, 0, n%days), withTime)
}

func formatDate(day time.Time, withTime bool) string {
	if withTime {
		return day.Format("2006-01-02T15:04:05Z")
	}
	return day.Format(time.DateOnly)
}

func isDatePseudonym(value string) bool {
	day, ok := parseDate(value)
	if !ok || formatDate(day.UTC(), strings.Contains(value, "T")) != value || !day.Equal(day.Truncate(24*time.Hour)) {
		return false
	}
	past, future := firstDay(formByValue), firstDay(formFuture)
	return !day.Before(past) && day.Before(past.AddDate(0, 0, pastDays)) ||
		!day.Before(future) && day.Before(future.AddDate(0, 0, futureDays))
}

// longestTime is the length of the longest kept time. Its fraction has six digits, too few to hide a number.
const longestTime = len("2006-01-02T15:04:05.000000+00:00")

var longFraction = regexp.MustCompile(`^([^.,]*[.,][0-9]{6})[0-9]+`)

// cutFraction shortens the fraction of a time to microseconds. Other texts are unchanged.
func cutFraction(value string) string {
	if !looksLikeDate(value) {
		return value
	}
	return longFraction.ReplaceAllString(value, "$1")
}

// parseDate parses a value that the client reads as a time.
func parseDate(value string) (time.Time, bool) {
	moment, _, ok := wire.ParseTime(value)
	return moment, ok && value != ""
}

// isDate reports whether value is a time that may be kept.
func isDate(value string) bool {
	return len(value) <= longestTime && looksLikeDate(value) && !longFraction.MatchString(value)
}

func looksLikeDate(value string) bool {
	if len(value) < len(time.DateOnly) || !isDigit(rune(value[0])) || value[4] != '-' && value[8] != 'T' {
		return false
	}
	_, ok := parseDate(value)
	return ok
}

func isAddress(value string) bool {
	_, err := netip.ParseAddr(value)
	return err == nil
}

func addressFor(n int, six bool) string {
	if six {
		return fmt.Sprintf("2001:db8::%x", n%0x10000)
	}
	return fmt.Sprintf("198.18.%d.%d", n/256%256, n%256)
}

func isEmail(value string) bool {
	name, host, ok := strings.Cut(value, "@")
	return ok && name != "" && host != "" && !strings.ContainsAny(value, " \t\r\n")
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func countDigits(value string) int { return len(onlyDigits(value)) }

func onlyDigits(value string) string {
	return strings.Map(func(r rune) rune {
		if isDigit(r) {
			return r
		}
		return -1
	}, value)
}

// regroup replaces the digits of value by those of the text digits, and appends the remaining ones.
func regroup(value, digits string) string {
	var b strings.Builder
	for _, r := range value {
		if isDigit(r) {
			b.WriteByte(digits[0])
			digits = digits[1:]
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteString(digits)
	return b.String()
}
