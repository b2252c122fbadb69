package openapi

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"dormouse/api/document"
)

const problemType = "application/problem+json"

// problemNames are the names of the shared responses by status.
var problemNames = map[int]string{
	http.StatusBadRequest:            "Invalid",
	http.StatusUnauthorized:          "Unauthenticated",
	http.StatusForbidden:             "Forbidden",
	http.StatusNotFound:              "NotFound",
	http.StatusConflict:              "Conflict",
	http.StatusGone:                  "Gone",
	http.StatusRequestEntityTooLarge: "TooLarge",
	http.StatusUnsupportedMediaType:  "UnsupportedMedia",
	http.StatusUnprocessableEntity:   "IdempotencyMismatch",
	http.StatusTooManyRequests:       "Overloaded",
	http.StatusInternalServerError:   "Internal",
	http.StatusBadGateway:            "HandlerFailed",
	http.StatusServiceUnavailable:    "Unavailable",
	http.StatusGatewayTimeout:        "Unknown",
}

// problems returns the shared responses by name. It gives the member code of a problem its values.
func problems(schemas huma.Registry) map[string]*huma.Response {
	problem := schemas.Schema(reflect.TypeFor[document.Problem](), true, "Problem")
	code := schemas.SchemaFromRef(problem.Ref).Properties["code"]
	meant := map[int]string{}
	for _, each := range document.Codes() {
		code.Enum = append(code.Enum, string(each.Code))
		meant[each.Status] += "\n- `" + string(each.Code) + "`: " + each.Title
	}
	all := map[string]*huma.Response{"Problem": {
		Description: "Any other problem; its code says which",
		Content:     map[string]*huma.MediaType{problemType: {Schema: problem}},
	}}
	for status, name := range problemNames {
		all[name] = &huma.Response{
			Description: "A problem with one of these codes:\n" + meant[status],
			Headers:     problemHeaders(status),
			Content:     map[string]*huma.MediaType{problemType: {Schema: problem, Example: exampleOf(status)}},
		}
	}
	return all
}

func problemHeaders(status int) map[string]*huma.Param {
	text := &huma.Schema{Type: huma.TypeString}
	switch status {
	case http.StatusUnauthorized:
		return map[string]*huma.Param{"WWW-Authenticate": {Description: "Bearer", Schema: text}}
	case http.StatusTooManyRequests:
		least := 1.0
		return map[string]*huma.Param{"Retry-After": {Description: "Seconds", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: &least}}}
	default:
		return nil
	}
}

// exampleOf returns a problem with the first code of a status.
func exampleOf(status int) any {
	for _, each := range document.Codes() {
		if each.Status == status {
			return map[string]any{
				"type": "urn:dormouse:problem:" + string(each.Code), "title": each.Title, "status": status,
				"detail": strings.TrimSuffix(each.Title, "."), "code": string(each.Code),
			}
		}
	}
	return nil
}

// Refusals adds the responses with problems to op: those of statuses, and the default for all others.
func Refusals(op *huma.Operation, statuses ...int) {
	for _, status := range statuses {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + problemNames[status]}
	}
	op.Responses["default"] = &huma.Response{Ref: "#/components/responses/Problem"}
}
