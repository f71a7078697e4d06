package prepaidtest

import "net/http"

// WithPage makes h handle every path outside /3.0/, for example a web page with the emulator's state. These
// requests need no token, are not logged and do not count for the rate limit. By default they get 404 like
// any unknown path. Close cuts the connections of h and waits for h.
func WithPage(h http.Handler) Option { return func(s *settings) { s.pages = h } }
