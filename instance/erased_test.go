package instance_test

import (
	"context"
	"testing"

	"dormouse/agent"
	"dormouse/instance"
)

// erasing is a service with receipts of erasures that an owner has yet to act on.
type erasing struct {
	agent.Service
	at      uint64 // the log index of the erasure of each agent
	woken   uint64 // the log index of the last read of a checkpoint
	written uint64 // the log index of the last commit under a fence
}

func (e *erasing) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	result, err := e.Service.Commit(ctx, c)
	if err == nil && c.Fence != nil {
		e.written = result.Index
	}
	return result, err
}

func (e *erasing) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if q, ok := r.Reads[0].(*agent.GetErasure); ok && e.at > 0 {
		return agent.Answers{Answers: []agent.Answer{{Found: &agent.Erasure{Agent: q.Agent, Index: e.at, Ending: e.at}}}}, nil
	}
	answers, err := e.Service.Read(ctx, r)
	if _, ok := r.Reads[0].(*agent.Thaw); ok && err == nil {
		e.woken = answers.Index
	}
	return answers, err
}

// A stop for an erasure ends an instance from before it, and no instance that began after it. Any other stop ends both.
func TestAStopForAnErasureEndsOnlyWhatIsErased(t *testing.T) {
	const before, after = 1, 1 << 62 // all instances
	for name, c := range map[string]struct {
		erased     uint64 // the index of the erasure; 0 if there was none
		ifErased   bool
		code       agent.Code // of the stop
		awakeAfter bool
	}{
		"the instance is erased":                  {after, true, "", false},
		"it began after the erasure":              {before, true, agent.CodeNotFound, true},
		"nothing was erased":                      {0, true, agent.CodeNotFound, true},
		"a caller stops what is erased":           {after, false, "", false},
		"a caller stops what began after it":      {before, false, "", false},
		"a caller stops an instance like another": {0, false, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			e := &erasing{}
			sim(t, func(o *instance.Options) { e.Service, o.Service = o.Service, e }, func(k *kit) {
				k.send(k.host, "a", signal("patch", `{"n":1}`))
				e.at = c.erased
				ctx := k.Context()
				if c.ifErased {
					ctx = agent.IfErased(ctx)
				}
				err := k.host.Stop(ctx, ref("a"))
				if got := agent.CodeOf(err); got != c.code {
					k.Errorf("the stop: %v, want code %q", err, c.code)
				}
				found, err := k.host.Lookup(k.Context(), ref("a"))
				if awake := err == nil && found.Status == agent.InstanceAwake; awake != c.awakeAfter {
					k.Errorf("afterwards it is %q, %v", found.Status, err)
				}
			})
		})
	}
}

// Several commits share a log entry. An erasure in the entry of an instance's last commit came after that commit, which
// it would have refused. An erasure in the entry that the instance was read at is in what it read.
func TestAnErasureMayShareALogEntryWithATurn(t *testing.T) {
	for name, c := range map[string]struct {
		signals int
		erased  func(e *erasing) uint64
		code    agent.Code // of the stop for the erasure
	}{
		"that of the first turn":  {1, func(e *erasing) uint64 { return e.written }, ""},
		"that of the second turn": {2, func(e *erasing) uint64 { return e.written }, ""},
		"that before the turn":    {2, func(e *erasing) uint64 { return e.written - 1 }, agent.CodeNotFound},
		"that of the read":        {0, func(e *erasing) uint64 { return e.woken }, agent.CodeNotFound},
		"that after the read":     {0, func(e *erasing) uint64 { return e.woken + 1 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := &erasing{}
			sim(t, func(o *instance.Options) { e.Service, o.Service = o.Service, e }, func(k *kit) {
				if _, err := k.host.Start(k.Context(), ref("a"), agent.StartInstance{}); err != nil {
					k.Fatal(err)
				}
				for range c.signals {
					k.send(k.host, "a", signal("patch", `{"n":1}`))
				}
				e.at = c.erased(e)
				err := k.host.Stop(agent.IfErased(k.Context()), ref("a"))
				if got := agent.CodeOf(err); got != c.code {
					k.Errorf("the stop: %v, want code %q", err, c.code)
				}
			})
		})
	}
}
