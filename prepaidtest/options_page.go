package prepaidtest

import "net/http"

// WithPage makes h handle every path outside /3.0/: a web page, say, that shows the state of the
// emulator. Such requests need no token, are not logged and do not count for the rate limit. By default they
// get 404 like any path that is none of the service's. Close cuts the connections of h and waits for it.
func WithPage(h http.Handler) Option { return func(s *settings) { s.pages = h } }
