package redis

import (
	"errors"

	"dormouse/agent"
)

// failureOf returns the reply to an error. TRYAGAIN means that the command was not applied and may be
// sent again; clients such as go-redis do so. After "ERR unknown" a write may still apply.
func failureOf(err error) failure {
	var mine failure
	if errors.As(err, &mine) {
		return mine
	}
	var wrong protocolError
	if errors.As(err, &wrong) {
		return failure("ERR " + wrong.Error())
	}
	var e *agent.Error
	if !errors.As(err, &e) {
		return failuref("ERR %s: %v", agent.CodeInternal, err)
	}
	switch e.Code {
	case agent.CodeUnauthenticated:
		return failure("NOAUTH " + e.Error())
	case agent.CodeForbidden:
		return failure("NOPERM " + e.Error())
	case agent.CodeUnavailable, agent.CodeOverloaded:
		return failure("TRYAGAIN " + e.Error())
	default:
		return failure("ERR " + e.Error())
	}
}

const (
	errSyntax     failure = "ERR syntax error"
	errNotInteger failure = "ERR value is not an integer or out of range"
	errExpireTime failure = "ERR invalid expire time in 'set' command: use 1 ms to 10 years"
	errNoAuth     failure = "NOAUTH Authentication required: send AUTH with a token of this cluster"
	errNoScript   failure = "NOSCRIPT No matching script. Please use EVAL."
	errScript     failure = "ERR this server runs no scripts: it only knows the compare-and-set of Jido.Persistence.Redis"
	errAborted    failure = "EXECABORT Transaction discarded because of previous errors."
)

// errArity returns the reply to a command with a wrong number of arguments.
func errArity(name string) failure {
	return failuref("ERR wrong number of arguments for '%s' command", name)
}
