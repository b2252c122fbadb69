package instance

import (
	"fmt"
	"runtime/debug"
)

// logPanic logs a panic of a Go handler with its stack, and returns the error
// text for callers. That text omits the panic's value, which may be
// confidential. Only the deferred function that recovered the panic may call
// it.
func (rn *runner) logPanic(i *instance, value any) string {
	rn.o.Logger.Error("a Go handler panicked", "instance", i.String(), "panic", clipped(fmt.Sprint(value)), "stack", string(debug.Stack()))
	return fmt.Sprintf("the handler panicked: the log of node %s has the panic and its stack", rn.o.Node)
}
