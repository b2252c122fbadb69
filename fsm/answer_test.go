package fsm

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"dormouse/agent"
)

// A node that has no descriptor left must not call its data corrupt: an operator would
// throw it away.
func TestAnAnswerIsCorruptOnlyIfTheDataIs(t *testing.T) {
	for _, c := range []struct {
		err  error
		want agent.Code
	}{
		{agent.ErrNotFound, agent.CodeNotFound},
		{errors.New("checksum mismatch"), agent.CodeCorrupt},
		{fmt.Errorf("get: %w", &os.PathError{Op: "open", Path: "1.sst", Err: syscall.EMFILE}), agent.CodeUnavailable},
		{fmt.Errorf("get: %w", &os.PathError{Op: "open", Path: "1.sst", Err: syscall.EIO}), agent.CodeCorrupt},
	} {
		if got := answerOf(nil, c.err).Err.Code; got != c.want {
			t.Errorf("%v is answered as %s, want %s", c.err, got, c.want)
		}
	}
}
