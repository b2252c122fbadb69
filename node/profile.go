package node

import (
	"bytes"
	"context"
	"runtime/pprof"
	"sync"
	"time"

	"dormouse/agent"
)

// profiling is held while a CPU profile is taken: a process takes one at a time.
var profiling sync.Mutex

// profile returns a profile of this process in the format of pprof: heap, goroutine, or cpu over a
// time.
func profile(ctx context.Context, kind string, seconds uint64) ([]byte, error) {
	var out bytes.Buffer
	if kind != "cpu" {
		if err := pprof.Lookup(kind).WriteTo(&out, 0); err != nil {
			return nil, agent.Errorf(agent.CodeInternal, "the profile failed: %v", err)
		}
		return out.Bytes(), nil
	}
	if !profiling.TryLock() {
		return nil, agent.Errorf(agent.CodeOverloaded, "a CPU profile is being taken: try again when it ends")
	}
	defer profiling.Unlock()
	if err := pprof.StartCPUProfile(&out); err != nil {
		return nil, agent.Errorf(agent.CodeUnavailable, "the profile failed: %v", err)
	}
	timer := time.NewTimer(time.Duration(seconds) * time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	pprof.StopCPUProfile()
	if ctx.Err() != nil {
		return nil, agent.Errorf(agent.CodeUnavailable, "the profile was interrupted: %v", context.Cause(ctx))
	}
	return out.Bytes(), nil
}
