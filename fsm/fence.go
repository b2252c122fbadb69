package fsm

import (
	"dormouse/agent"
	logpb "dormouse/proto/log"
)

// fenced refuses a commit whose fence is not its claim's newest epoch. There
// are no claims yet, so none is.
func (b *batch) fenced(fence *logpb.Fence) error {
	if fence == nil {
		return nil
	}
	e := agent.Errorf(agent.CodeFenced, "nobody holds claim %q", fence.Claim)
	e.Epoch = 0
	return e
}
