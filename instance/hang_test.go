package instance_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/instance"
)

// part is a Go handler of which one part does what at does.
type part struct {
	name string
	at   func()
}

func (p part) is(name string) {
	if p.name == name {
		p.at()
	}
}

func (p part) Handle(context.Context, *instance.Turn) error { p.is("handle"); return nil }

func (p part) Restore(agent.JSON) error { p.is("restore"); return nil }

func (p part) Checkpoint() (agent.JSON, error) { p.is("checkpoint"); return agent.JSON(`{}`), nil }

// handler returns the instance.GoHandler that makes it.
func (p part) handler() instance.GoHandler {
	return instance.GoHandler{
		Version: 2,
		New:     func(agent.InstanceRef) instance.Handler { p.is("new"); return p },
		Migrate: func(_ uint64, state agent.JSON) (agent.JSON, error) { p.is("migrate"); return state, nil },
	}
}

var parts = []string{"new", "restore", "migrate", "handle", "checkpoint"}

// withPart runs a test with a handler of version 2 and an instance a of version 1: the host has the
// handler, or only another host has it.
func withPart(t *testing.T, name string, at func(), test func(k *kit)) {
	t.Helper()
	register := func(o *instance.Options) {
		o.Handlers = map[string]instance.GoHandler{"f": part{name, at}.handler()}
	}
	prepared := func(k *kit) {
		k.start("a", `{"n":1}`)
		if err := k.host.Stop(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		k.put(agent.Manager{Name: "m", Handler: goHandler, Version: 2, SignalTTL: 5 * time.Second})
		test(k)
	}
	t.Run(name+" local", func(t *testing.T) { sim(t, register, prepared) })
	t.Run(name+" remote", func(t *testing.T) { simRemote(t, register, prepared) })
}

// No part of a handler that hangs holds its instance, or the end of its host, for longer than the
// timeout of a call.
func TestNoPartOfAHandlerHoldsAnInstance(t *testing.T) {
	for _, name := range parts {
		var mu sync.Mutex
		var release chan struct{}
		wait := func() {
			mu.Lock()
			until := release
			mu.Unlock()
			<-until
		}
		withPart(t, name, wait, func(k *kit) {
			mu.Lock()
			release = make(chan struct{})
			mu.Unlock()
			ctx, cancel := context.WithTimeout(k.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			if _, err := k.host.Signal(ctx, ref("a"), signal("x", "")); err == nil || time.Since(began) > 15*time.Second {
				k.Errorf("after %v: %v", time.Since(began), err)
			}
			ended := make(chan struct{})
			go func() { k.stop(); close(ended) }()
			select {
			case <-ended:
			case <-time.After(30 * time.Second):
				k.Error("the host does not stop")
			}
			close(release)
			synctest.Wait()
		})
	}
}

// A part of a handler that ends its goroutine is a failure at once.
func TestNoPartOfAHandlerEndsAnInstance(t *testing.T) {
	for _, name := range parts {
		withPart(t, name, runtime.Goexit, func(k *kit) {
			ctx, cancel := context.WithTimeout(k.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			if _, err := k.host.Signal(ctx, ref("a"), signal("x", "")); err == nil || time.Since(began) > time.Second {
				k.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	}
}
