package client_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/node/nodetest"
	grpcfront "dormouse/server/grpc"
)

// The watch goes through the router and the client of a real node.
func TestInstancesAreWatchedThroughTheClient(t *testing.T) {
	c := nodetest.StartWith(t, nodetest.Options{})
	put := agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}}}
	if _, err := c.PutManager(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ref := agent.InstanceRef{Manager: "m", Key: "k"}
	var heard []string
	for e, err := range c.Instances().Watch(ctx, agent.InstanceWatch{Manager: "m", Key: "k"}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Missed { // from here on it yields all changes
			for _, key := range []string{"another", "k"} {
				if _, err := c.Instances().Start(ctx, agent.InstanceRef{Manager: "m", Key: key}, agent.StartInstance{}); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Instances().Stop(ctx, ref); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if e.Scope != agent.DefaultScope || e.Manager != "m" || e.Node == "" || e.Epoch == 0 || e.At == 0 {
			t.Errorf("%+v", e)
		}
		if heard = append(heard, fmt.Sprintf("%s %s %s", e.Key, e.Status, e.Reason)); e.Status == agent.InstanceDormant {
			cancel()
		}
	}
	if want := []string{"k waking called", "k awake fresh", "k draining manual", "k dormant manual"}; !slices.Equal(heard, want) {
		t.Errorf("heard %v", heard)
	}
	for _, err := range c.Instances().Watch(t.Context(), agent.InstanceWatch{}) {
		if agent.CodeOf(err) != agent.CodeInvalid {
			t.Errorf("a watch of nothing: %v", err)
		}
	}
}

// breaking begins a watch, and then fails.
type breaking struct {
	agent.Instances
	watches chan agent.InstanceWatch
}

func (b breaking) Watch(_ context.Context, w agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	return func(yield func(agent.InstanceEvent, error) bool) {
		b.watches <- w
		if yield(agent.InstanceEvent{Missed: true, Reason: "the watch begins"}, nil) {
			yield(agent.InstanceEvent{}, agent.Errorf(agent.CodeUnavailable, "the node is stopping"))
		}
	}
}

func TestAWatchOfInstancesGoesOnElsewhere(t *testing.T) {
	w, watches := newWires(t), make(chan agent.InstanceWatch, 16)
	for _, addr := range []string{"a:1", "b:1"} {
		w.serveWith(addr, &fake{}, &fake{}, grpcfront.Options{Instances: breaking{watches: watches}})
	}
	c := w.client(client.Options{Endpoints: []string{"a:1", "b:1"}, Fixed: true, Scope: "acme"})
	began := 0
	for e, err := range c.Instances().Watch(t.Context(), agent.InstanceWatch{Manager: "m"}) {
		if err != nil || !e.Missed {
			t.Fatalf("%+v, %v", e, err)
		}
		if asked := <-watches; asked != (agent.InstanceWatch{Scope: "acme", Manager: "m"}) {
			t.Errorf("it watches %+v", asked)
		}
		if began++; began == 3 {
			break
		}
	}
	if began != 3 {
		t.Errorf("it began %d times", began)
	}
}
