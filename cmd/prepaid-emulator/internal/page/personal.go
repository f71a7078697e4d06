package page

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// concealed stands for personal data, which the page of an account alone shows.
const concealed = "[personal]"

// personalMembers are personal data, in bodies, responses and queries. The members of a registration are among them: a program
// that is being written sends them in the wrong place too.
func personalMembers() []string {
	return []string{
		"personal", "registration", "name_on_card", "display_name", "destination_account_info", "mobile",
		"first_name", "middle_name", "last_name", "date_of_birth", "sex", "mobile_number", "phone_number", "email_address",
		"driver_licence_number", "passport", "primary_address", "alternate_address", "address_line1", "address_line2", "address_line3",
	}
}

// readable indents JSON, with personal data left out, and the query of a webhook's address, which may hold a secret. What is
// no JSON stays as it is, unless it was cut and may hold some.
func readable(text string) string {
	shown, problem := open(text)
	if problem != "" {
		return problem
	}
	var indented bytes.Buffer
	if json.Indent(&indented, []byte(shown), "", "  ") != nil {
		return shown
	}
	return indented.String()
}

// compact is readable on one line, for a program.
func compact(text string) string {
	shown, problem := open(text)
	if problem != "" {
		return concealed
	}
	return shown
}

// open leaves out what is not shown; the rest of the text is as it was. It says so when that cannot be done.
func open(text string) (shown, problem string) {
	hidden := slices.ContainsFunc(append(personalMembers(), "uri"), func(name string) bool { return strings.Contains(text, `"`+name+`"`) })
	if !hidden {
		return text, ""
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return "", "It holds what is not shown here, and is too long to leave that out."
	}
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(conceal(value)) != nil {
		return "", concealed
	}
	return strings.TrimSuffix(plain.String(), "\n"), ""
}

func conceal(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			address, isText := member.(string)
			switch {
			case slices.Contains(personalMembers(), name):
				value[name] = concealed
			case name == "uri" && isText:
				value[name] = plain(address)
			default:
				value[name] = conceal(member)
			}
		}
	case []any:
		for i, element := range value {
			value[i] = conceal(element)
		}
	}
	return value
}
