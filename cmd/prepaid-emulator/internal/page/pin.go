package page

import "net/http"

// pinCertificate sends the operator's public certificate for PIN changes.
func (p *Page) pinCertificate(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-pem-file")
	w.Header().Set("Content-Disposition", `attachment; filename="pin-certificate.pem"`)
	_, _ = w.Write(p.server.Load().PINCertificate()) // fails if the reader has gone away
}
