package node

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/internal/tracing"
)

// The line of a slow commit has the parts of its time; the log of many is bounded, and says how much it
// left out.
func TestTheLogOfSlowCallsIsBounded(t *testing.T) {
	var out bytes.Buffer
	l := newSlowLog(hclog.New(&hclog.LoggerOptions{Output: &out, Exclude: newRepeats().exclude}), time.Second)
	if l.is(time.Second-1) || !l.is(time.Second) || (*slowLog)(nil).is(time.Hour) || newSlowLog(nil, 0) != nil {
		t.Error("the wrong calls are slow")
	}
	at := time.Unix(1, 0)
	parts := &tracing.Parts{Queued: at, Packed: at.Add(2 * time.Millisecond), Settled: at.Add(1302 * time.Millisecond), Applying: 80 * time.Microsecond}
	c := agent.Commit{Scope: "s", Ops: []agent.Op{&agent.PutValue{}}}
	l.commit(t.Context(), c, parts, 1320*time.Millisecond, errors.New("x"))
	want := "slow call: call=commit scope=s ops=1 first=PutValue queue=2ms replicate=1.29992s apply=\"80µs\" took=1.32s code=internal"
	if !strings.Contains(out.String(), want) {
		t.Errorf("%s, want %s", out.String(), want)
	}
	for range 3 * slowKept {
		l.read(t.Context(), agent.Reads{Scope: "r"}, time.Second, nil)
	}
	if lines := strings.Count(out.String(), "slow call"); lines < slowBurst || lines > slowBurst+slowPerSecond {
		t.Errorf("%d lines", lines)
	}
	if kept := l.last(); len(kept) != slowKept || kept[0].Call != "read" {
		t.Errorf("%d calls are kept", len(kept))
	}
	time.Sleep(time.Second / slowPerSecond * 2)
	l.read(t.Context(), agent.Reads{Scope: "r"}, time.Second, nil)
	if !strings.Contains(out.String(), "not_logged_before=") {
		t.Error("the log does not say what it left out")
	}
}
