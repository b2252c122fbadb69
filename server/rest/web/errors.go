package web

import (
	"errors"
	"net/http"
	"strconv"

	"dormouse/agent"
	"dormouse/api/document"
)

// methodError is method_not_allowed, with the allowed methods.
type methodError struct {
	error
	allow string
}

func (e *methodError) Unwrap() error { return e.error }

// reportError is an error with a report of what was done nonetheless.
type reportError struct {
	error
	report []byte
}

func (e *reportError) Unwrap() error { return e.error }

// WithReport returns err as an error whose problem has the report, a JSON value.
func WithReport(err error, report []byte) error { return &reportError{error: err, report: report} }

// refuse answers err as a problem.
func (f *API) refuse(w *Writer, err error) {
	f.refuseOp(w, err, false)
}

// refuseOp answers err as a problem; if the caller numbered its ops, the problem has the number.
func (f *API) refuseOp(w *Writer, err error, numbered bool) {
	p := document.ProblemOf(err)
	var e *agent.Error
	if numbered && errors.As(err, &e) && e.Op >= 0 {
		p.Op = &e.Op
	}
	if p.Status == http.StatusInternalServerError {
		f.Options.Logger.Error("a request failed", "operation", w.operation, "error", err)
	}
	switch p.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests: // the node reads no body for these
	default:
		w.drain()
	}
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	var method *methodError
	if errors.As(err, &method) {
		w.Header().Set("Allow", method.allow)
	}
	var failed *reportError
	if errors.As(err, &failed) {
		p.Report = document.AnyValue{JSON: document.JSON(failed.report)}
	}
	if p.RetryAfterMS != nil {
		seconds := max(1, (*p.RetryAfterMS+999)/1000)
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	for _, name := range []string{"ETag", HeaderIncarnation, "Location", "Content-Security-Policy"} {
		w.Header().Del(name)
	}
	f.writeJSON(w, p.Status, "application/problem+json", p)
}

// overloaded returns the error for a limit of this node.
func overloaded() error {
	err := agent.Errorf(agent.CodeOverloaded, "this node is serving as many requests as it may; retry later")
	err.RetryAfterMS = retryAfterMS
	return err
}
