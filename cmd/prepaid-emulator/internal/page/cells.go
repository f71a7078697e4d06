package page

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/cardprograms/prepaid"
)

// tableOf makes a table of structs with a column for each named field. The first column names the row. A name after a colon
// replaces the field's.
func tableOf[T any](list []T, columns ...string) *table {
	t := &table{Rows: make([]row, len(list))}
	for _, named := range columns {
		field, name, _ := strings.Cut(named, ":")
		of, _ := reflect.TypeFor[T]().FieldByName(field)
		t.Columns = append(t.Columns, column{cmp.Or(name, label(field)), isAmount(field) || of.Type.Kind() == reflect.Int && field != "Status"})
		for i, item := range list {
			t.Rows[i].Cells = append(t.Rows[i].Cells, cells(field, reflect.ValueOf(item).FieldByName(field)))
		}
	}
	for i := range t.Rows {
		t.Rows[i].Key = t.Rows[i].Cells[0][0].Text
	}
	return t
}

// factsOf lists the fields of a struct that are not zero, also those of inner structs.
func factsOf(value any, omitted ...string) []fact {
	return appendFacts(nil, "", reflect.ValueOf(value), omitted)
}

func appendFacts(facts []fact, prefix string, v reflect.Value, omitted []string) []fact {
	for field, value := range v.Fields() {
		if value.IsZero() || !field.IsExported() || slices.Contains(omitted, field.Name) {
			continue
		}
		inner := reflect.Indirect(value)
		switch name := prefix + field.Name; {
		case field.Anonymous:
			facts = appendFacts(facts, prefix, inner, omitted)
		case inner.Kind() == reflect.Struct && inner.Type() != reflect.TypeFor[time.Time]():
			facts = appendFacts(facts, name, inner, omitted)
		case inner.Kind() == reflect.Slice && inner.Type().Elem().Kind() == reflect.Struct: // has its own table
		default:
			facts = append(facts, fact{label(name), cells(field.Name, value)})
		}
	}
	return facts
}

// cells shows a value by its type or, for amounts and statuses, by the name of its field.
func cells(name string, v reflect.Value) []cell {
	text := fmt.Sprint(v.Interface())
	switch value := v.Interface().(type) {
	case []cell:
		return value
	case time.Time:
		return []cell{{Text: when(value), Class: "time"}}
	case time.Duration:
		return []cell{{Text: took(value), Class: "took"}}
	case prepaid.AccountID:
		return linked(text, accountPath(value))
	case prepaid.RequestID:
		return linked(text, "/requests?text="+url.QueryEscape(text))
	case bool:
		return []cell{{Text: map[bool]string{true: "yes", false: "no"}[value]}}
	case int:
		switch {
		case name == "Status":
			return []cell{statusBadge(value)}
		case name == "Left" && value < 0:
			text = "no end"
		}
	}
	switch {
	case text == "":
		return []cell{{}}
	case isAmount(name):
		class := ""
		if strings.HasPrefix(text, "-") {
			class = "minus"
		}
		return []cell{{Text: money(text), Class: class}}
	case name == "Status" || name == "AccountStatus" || name == "State":
		return []cell{{Text: words(text), Tone: tone(text)}}
	case name == "Operation" && text == "*":
		text = "every operation"
	case strings.HasSuffix(name, "ID"), name == "Fault", name == "OTP", name == "Operation":
		return []cell{{Text: text, Class: "code"}}
	}
	return []cell{{Text: words(text)}}
}

// linked is a link, or an empty text without a link.
func linked(text, path string) []cell {
	if text == "" {
		return []cell{{}}
	}
	return []cell{{Text: text, Link: path, Class: "code"}}
}

func isAmount(field string) bool {
	return slices.Contains([]string{"Amount", "Balance", "RunningBalance", "Fee", "AccountBalance"}, field)
}

// label makes a name readable: "OperationID" becomes "Operation ID", and "RunningBalance" becomes "Running balance".
func label(field string) string {
	var text strings.Builder
	runes := []rune(field)
	for i, r := range runes {
		begins := i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins {
			text.WriteByte(' ')
		}
		if begins && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			r = unicode.ToLower(r)
		}
		text.WriteRune(r)
	}
	return text.String()
}

// tone is the colour of an account status or of another state.
func tone(status string) string {
	switch status {
	case "active":
		return "good"
	case "pre_active", "inactive", "vendor_inactive", "open":
		return "calm"
	case "lost_or_stolen", "suspected_fraud", "inactive_pin_tries_exceeded":
		return "bad"
	}
	return "dull"
}

// statusBadge shows an HTTP status; 0 means that the connection was cut.
func statusBadge(status int) cell {
	switch {
	case status == 0:
		return cell{Text: "cut", Tone: "bad"}
	case status >= http.StatusInternalServerError:
		return cell{Text: strconv.Itoa(status), Tone: "bad"}
	case status >= http.StatusBadRequest:
		return cell{Text: strconv.Itoa(status), Tone: "warn"}
	}
	return cell{Text: strconv.Itoa(status), Tone: "good"}
}

// words makes a word of the wire format readable: lost_or_stolen becomes "lost or stolen".
func words(wire string) string {
	if regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`).MatchString(wire) {
		return strings.ReplaceAll(wire, "_", " ")
	}
	return wire
}

// money groups the digits before the point: -1234.50 becomes −1,234.50. Text that is not a plain number stays as written.
func money(amount string) string {
	parts := regexp.MustCompile(`^(-?)([0-9]{1,19})(?:\.([0-9]*))?$`).FindStringSubmatch(amount)
	if parts == nil {
		return amount
	}
	whole, fraction := parts[2], parts[3]
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	for len(fraction) < 2 {
		fraction += "0"
	}
	return strings.Replace(parts[1], "-", "−", 1) + whole + "." + fraction
}

func when(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.DateTime)
}

// took rounds a duration for display.
func took(d time.Duration) string {
	switch {
	case d <= 0:
		return "0 s"
	case d < time.Millisecond:
		return "<1 ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
	return strconv.Itoa(int((d + time.Second/2).Seconds())) + " s"
}

// slug makes an id of a heading.
func slug(text string) string {
	return strings.ToLower(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(text, "-"))
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

func accountPath(id prepaid.AccountID) string { return "/accounts/" + url.PathEscape(string(id)) }
