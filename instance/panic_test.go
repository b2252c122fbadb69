package instance_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/instance"
)

// panicky is a Go handler that panics in one part.
type panicky struct{ part string }

func (p panicky) Handle(context.Context, *instance.Turn) error { return explodes(p.part, "handle") }

func (p panicky) Restore(agent.JSON) error { return explodes(p.part, "restore") }

func (p panicky) Checkpoint() (agent.JSON, error) {
	return agent.JSON(`{}`), explodes(p.part, "checkpoint")
}

// explodes is the function that the logged stack must contain.
func explodes(part, is string) error {
	if part == is {
		panic("a secret of the handler")
	}
	return nil
}

// handler returns the instance.GoHandler that makes it.
func (p panicky) handler() instance.GoHandler {
	return instance.GoHandler{
		Version: 2,
		New: func(agent.InstanceRef) instance.Handler {
			_ = explodes(p.part, "new")
			return p
		},
		Migrate: func(_ uint64, state agent.JSON) (agent.JSON, error) { return state, explodes(p.part, "migrate") },
	}
}

// logged collects a host's log.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// The node that runs the handler logs the panic with its stack. The client gets
// neither.
func TestAPanicIsLoggedAndNotReturned(t *testing.T) {
	for part, code := range map[string]agent.Code{
		"handle": agent.CodeHandlerFailed, "checkpoint": agent.CodeHandlerFailed,
		"new": agent.CodeThawFailed, "restore": agent.CodeThawFailed, "migrate": agent.CodeThawFailed,
	} {
		test := func(k *kit, log *logged, node string) {
			k.start("a", `{"n":1}`) // a document of version 1
			if err := k.host.Stop(k.Context(), ref("a")); err != nil {
				k.Fatal(err)
			}
			k.put(agent.Manager{Name: "m", Handler: goHandler, Version: 2})
			_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
			detail := k.refusal(err, code).Detail
			if !strings.Contains(detail, "panicked") || !strings.Contains(detail, "the log of node "+node) {
				k.Errorf("the caller is not told where to look: %s", detail)
			}
			for _, inner := range []string{"secret", "goroutine", ".go:", "explodes"} {
				if strings.Contains(detail, inner) {
					k.Errorf("the caller is told %q: %s", inner, detail)
				}
			}
			for _, want := range []string{"[ERROR]", "a secret of the handler", "instance_test.explodes", "instance a of manager m"} {
				if !strings.Contains(log.String(), want) {
					k.Errorf("the log lacks %q: %s", want, log)
				}
			}
		}
		log := &logged{}
		register := func(o *instance.Options) {
			o.Handlers = map[string]instance.GoHandler{"f": panicky{part}.handler()}
			o.Logger = hclog.New(&hclog.LoggerOptions{Output: log})
		}
		t.Run(part+" local", func(t *testing.T) {
			sim(t, register, func(k *kit) { test(k, log, "n1") })
		})
		log.text.Reset()
		t.Run(part+" remote", func(t *testing.T) {
			simRemote(t, register, func(k *kit) { test(k, log, "n2") })
		})
	}
}
