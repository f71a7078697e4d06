package page

import (
	"net/http"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// payment is the state of a request id: its running requests and its movements.
type payment struct {
	RequestID prepaid.RequestID
	Running   []prepaidtest.RunningTransfer // oldest first
	Movements int
	Twice     bool // the money moved more than once
}

// WillPayTwice reports whether the running requests will make a second payment.
func (p payment) WillPayTwice() bool {
	return p.RequestID != "" && p.Movements+len(p.Running) > 1 && !p.Twice
}

type transfersData struct {
	Running []payment
	Twice   []payment
	Armed   []prepaidtest.ArmedFault
}

func (p *Page) transfers(w http.ResponseWriter, r *http.Request) {
	p.showTransfers(w, r, http.StatusOK, "")
}

func (p *Page) showTransfers(w http.ResponseWriter, r *http.Request, status int, problem string) {
	server := p.server.Load()
	data := transfersData{Armed: transferFaults(server)}
	twice := server.PaidTwice()
	known := func(id prepaid.RequestID) payment {
		return payment{RequestID: id, Movements: server.Movements(id), Twice: slices.Contains(twice, id)}
	}
	for _, running := range server.RunningTransfers() {
		i := slices.IndexFunc(data.Running, func(one payment) bool {
			return one.RequestID != "" && one.RequestID == running.RequestID && one.Running[0].Operation == running.Operation
		})
		if i < 0 {
			i = len(data.Running)
			data.Running = append(data.Running, known(running.RequestID))
		}
		data.Running[i].Running = append(data.Running[i].Running, running)
	}
	for _, id := range twice {
		data.Twice = append(data.Twice, known(id))
	}
	p.show(w, r, status, "transfers", layout{Title: "Transfers", Section: "transfers", Data: data, Problem: problem, JSON: transfersOf(server)})
}

// transferFaults are armed faults for the next transfer or direct entry out.
func transferFaults(server *prepaidtest.Server) []prepaidtest.ArmedFault {
	return slices.DeleteFunc(server.Faults(), func(a prepaidtest.ArmedFault) bool { return !slices.Contains(heldOperations(), a.Operation) })
}

// heldOperations are the operations with a request id.
func heldOperations() []string {
	return []string{"POST /accounts/{id}/transfer", "POST /accounts/{id}/directentryout"}
}

const holdTime = 30 * time.Second

// hold arms a fault: the next transfer keeps running after its response is lost.
func (p *Page) hold(w http.ResponseWriter, r *http.Request) {
	operation := r.PostFormValue("operation")
	if !slices.Contains(heldOperations(), operation) {
		p.showTransfers(w, r, http.StatusUnprocessableEntity, "Choose a transfer or a direct entry out.")
		return
	}
	server := p.server.Load()
	server.Inject(operation, prepaidtest.ProxyPage(http.StatusBadGateway).CommitAfter(holdTime))
	done(w, r, "/transfers", "held", transfersOf(server))
}
