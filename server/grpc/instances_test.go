package grpc_test

import (
	"context"
	"testing"

	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
	"dormouse/server/grpc"
)

// stopped are instances that record what their stops are for.
type stopped struct {
	lateInstances
	onlyErased []bool
}

func (s *stopped) Stop(ctx context.Context, _ agent.InstanceRef) error {
	s.onlyErased = append(s.onlyErased, agent.OnlyErased(ctx))
	return nil
}

// The owner, which is another process, learns that a stop is for an erasure.
func TestAStopSaysThatItIsForAnErasure(t *testing.T) {
	owner := &stopped{}
	remote := convert.Remote{
		API:  apipb.NewInstancesClient(serveOn(t, grpc.New(&fake{}, late{}, grpc.Options{Instances: owner}))),
		Fail: func(err error, _ bool) error { return err },
	}
	ref := agent.InstanceRef{Manager: "m", Key: "k"}
	for _, ctx := range []context.Context{agent.IfErased(t.Context()), t.Context()} {
		if err := remote.Stop(ctx, ref); err != nil {
			t.Fatal(err)
		}
	}
	if len(owner.onlyErased) != 2 || !owner.onlyErased[0] || owner.onlyErased[1] {
		t.Errorf("the owner learned %v, want true and false", owner.onlyErased)
	}
}
