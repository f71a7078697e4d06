// Package requests knows the functions that handle HTTP requests, by the types of their parameters.
package requests

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// frameworks are the frameworks' types for a request with its response.
var frameworks = []string{
	"github.com/gin-gonic/gin.Context", "github.com/labstack/echo/v4.Context", "github.com/labstack/echo/v5.Context", "github.com/gofiber/fiber/v2.Ctx",
	"github.com/gofiber/fiber/v3.Ctx", "github.com/valyala/fasthttp.RequestCtx", "github.com/cloudwego/hertz/pkg/app.RequestContext",
}

// Is reports whether a type is a framework's type for a request.
func Is(t types.Type) bool {
	return slices.ContainsFunc(frameworks, func(name string) bool { return calls.Named(t, name) })
}

// Handles reports whether a function, or the function around it, runs for each request.
func Handles(fn *ssa.Function) bool {
	for ; fn != nil; fn = fn.Parent() {
		params := fn.Signature.Params()
		writer, request := false, false
		for v := range params.Variables() {
			t := v.Type()
			if Is(t) {
				return true
			}
			writer = writer || calls.Named(t, "net/http.ResponseWriter")
			request = request || calls.Named(t, "net/http.Request")
		}
		if writer && request {
			return true
		}
	}
	return false
}
