package config

import (
	"fmt"
	"strings"
)

// Error lists all problems of a configuration. Each is a sentence that names the setting and says
// what to do.
type Error struct {
	Problems []string
}

func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0]
	}
	return fmt.Sprintf("%d problems with the configuration:\n  %s", len(e.Problems), strings.Join(e.Problems, "\n  "))
}

func problem(format string, args ...any) *Error {
	return &Error{Problems: []string{fmt.Sprintf(format, args...)}}
}
