package convert

import (
	"dormouse/agent"
)

// atOp says which op (or read) of a request err is about.
func atOp(err error, op int) error {
	if e, ok := err.(*agent.Error); ok { //nolint:errorlint // made in this package, never wrapped
		e.Op = op
	}
	return err
}
