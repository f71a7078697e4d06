// Package oauth2 is a stub of the package that the SDK's API has a type of.
package oauth2

import (
	"net/http"
	"time"
)

type Token struct {
	AccessToken  string
	TokenType    string
	RefreshToken string
	Expiry       time.Time
}

func (*Token) SetAuthHeader(*http.Request) {}
func (*Token) Valid() bool                 { return false }
