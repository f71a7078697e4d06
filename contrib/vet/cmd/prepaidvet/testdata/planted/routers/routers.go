// Package routers: handlers of chi and gin.
package routers

import (
	"context"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
)

func Chi(c *prepaid.Client, config prepaid.Config) http.Handler {
	r := chi.NewRouter()
	r.Post("/bad/{id}", func(w http.ResponseWriter, r *http.Request) {
		_, err := c.Accounts.Transfer(r.Context(), "EA1", prepaid.TransferParams{RequestID: prepaid.RequestID(r.FormValue("id"))}) // want: deadline
		if err != nil {
			http.Error(w, err.Error(), 502)
		}
	})
	r.Post("/good/{id}", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
		defer cancel()
		_, err := c.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: prepaid.RequestID(r.FormValue("id"))})
		if err != nil {
			http.Error(w, err.Error(), 502)
		}
	})
	r.Post("/client", func(w http.ResponseWriter, r *http.Request) {
		mine, err := prepaid.NewClient(config) // want: client
		if err != nil {
			http.Error(w, err.Error(), 502)
			return
		}
		if _, err := mine.Check(r.Context()); err != nil {
			http.Error(w, err.Error(), 502)
		}
		if _, err := mine.Accounts.Get(r.Context(), "EA1"); err != nil {
			http.Error(w, err.Error(), 502)
		}
	})
	r.Post("/drop/{id}", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
		defer cancel()
		if _, err := c.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: prepaid.RequestID(r.FormValue("id"))}); err != nil { // want: outcome
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	return r
}

func Gin(c *prepaid.Client) *gin.Engine {
	e := gin.Default()
	e.POST("/bad", func(g *gin.Context) {
		_, err := c.Accounts.Transfer(g.Request.Context(), "EA1", prepaid.TransferParams{RequestID: prepaid.RequestID(g.Request.FormValue("id"))}) // want: deadline
		if err != nil {
			g.JSON(502, err.Error())
		}
	})
	e.POST("/bad2", func(g *gin.Context) {
		_, err := c.Accounts.Transfer(g, "EA1", prepaid.TransferParams{RequestID: prepaid.RequestID(g.Request.FormValue("id"))}) // want: deadline outcome
		if err != nil {
			g.JSON(502, "failed")
		}
	})
	e.POST("/good", func(g *gin.Context) {
		ctx, cancel := context.WithTimeout(g, time.Minute)
		defer cancel()
		_, err := c.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: prepaid.RequestID(g.Request.FormValue("id"))})
		if err != nil {
			g.JSON(502, err.Error())
		}
	})
	e.POST("/redeem", func(g *gin.Context) {
		ctx, cancel := context.WithTimeout(g, time.Minute)
		defer cancel()
		if _, err := c.Funding.Redeem(ctx, prepaid.RedeemFundingParams{CorrelationID: g.Request.FormValue("id")}); err != nil { // want: funding
			g.JSON(502, err.Error())
			return
		}
		g.JSON(http.StatusNoContent, nil)
	})
	return e
}
