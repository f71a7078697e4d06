package library // want package:"2 without a deadline"

import (
	"net/http"

	"github.com/cardprograms/prepaid"
)

type Handler struct{ Client *prepaid.Client }

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, err := h.Client.Accounts.Transfer(r.Context(), "float", prepaid.TransferParams{})
	//prepaidvet:ignore deadline the gateway cancels it
	_, other := h.Client.Accounts.Transfer(r.Context(), "float", prepaid.TransferParams{})
	//prepaidvet:ignore deadline // want `give a reason after //prepaidvet:ignore deadline`
	_, third := h.Client.Accounts.Transfer(r.Context(), "float", prepaid.TransferParams{})
	_, _, _ = err, other, third
}
