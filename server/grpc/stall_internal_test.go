package grpc

import (
	"testing"
	"time"

	"dormouse/internal/budget"
)

// A client that reads a little of its answers now and then is closed as one that reads nothing: their bytes are another's.
func TestAConnectionThatReadsTooLittleIsStalled(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(1000+seconds), 0) }
	c := &conn{}
	if c.stalled(at(0)) || c.stalled(at(100)) {
		t.Error("a connection without answers to send is stalled")
	}
	c.hold(budget.New(1<<20), "a", 1)
	for second := 105; second < 130; second += 5 {
		c.written.Add(1000)
		if c.stalled(at(second)) {
			t.Errorf("it is stalled after %d s", second-100)
		}
	}
	if !c.stalled(at(130)) {
		t.Error("a client that reads 1 KiB in 5 s keeps its answers")
	}
	c.written.Add(stallBytes)
	if c.stalled(at(131)) || c.stalled(at(160)) || !c.stalled(at(161)) {
		t.Error("a client that reads on is not taken for one")
	}
}
