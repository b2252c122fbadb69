package client_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/client"
)

// Several reads are answered at one index, each with what it found or with its own error.
func TestAScopeMakesSeveralReadsAtOnce(t *testing.T) {
	scope := client.In(memstore.New(), "s")
	ctx := t.Context()
	if _, err := scope.PutValue(ctx, agent.PutValue{Key: "v", Bytes: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	answers, err := scope.Read(ctx, &agent.GetValue{Key: "v"}, &agent.GetThread{Thread: "t"}, &agent.ListValues{Body: true})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := client.FoundIn[*agent.Value](answers, 0); err != nil || string(v.Bytes) != "1" {
		t.Errorf("the value: %+v, %v", v, err)
	}
	if _, err := client.FoundIn[*agent.Thread](answers, 1); agent.CodeOf(err) != agent.CodeNotFound {
		t.Errorf("a missing thread: %v", err)
	}
	if list, err := client.FoundIn[*agent.ValueList](answers, 2); err != nil || len(list.Items) != 1 || string(*list.Items[0].Body) != "1" {
		t.Errorf("the list: %+v, %v", list, err)
	}
	for i, wrong := range []func() error{
		func() error { _, err := client.FoundIn[*agent.Thread](answers, 0); return err },
		func() error { _, err := client.FoundIn[*agent.Value](answers, 3); return err },
		func() error { _, err := client.FoundIn[*agent.Value](answers, -1); return err },
	} {
		if err := wrong(); agent.CodeOf(err) != agent.CodeInternal {
			t.Errorf("wrong use %d: %v", i, err)
		}
	}
	if _, err := scope.Read(ctx); agent.CodeOf(err) != agent.CodeInvalid {
		t.Errorf("no reads at all: %v", err)
	}
}

// The error of a call that its caller cancelled does not blame the node, which may be well.
func TestACancelledCallSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		f := &fake{
			read: func(ctx context.Context, _ agent.Reads) (agent.Answers, error) {
				<-ctx.Done()
				return agent.Answers{}, ctx.Err()
			},
			submit: func(context.Context, agent.Commit, func(agent.Result, error)) {},
		}
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		for want, call := range map[agent.Code]func(context.Context) error{
			agent.CodeUnavailable: func(ctx context.Context) error { _, err := c.GetValue(ctx, "k"); return err },
			agent.CodeUnknown:     func(ctx context.Context) error { _, err := c.Commit(ctx, put("k")); return err },
		} {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			if err := call(ctx); agent.CodeOf(err) != want || !strings.Contains(err.Error(), "the caller cancelled the call") {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
}
