package convert_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
)

// instances is the API of another process. It records each request, and answers with answer or err.
type instances struct {
	apipb.InstancesClient

	t      *rapid.T
	asked  proto.Message
	answer proto.Message
	err    error
	events []*apipb.InstanceEvent
}

// answers answers a request as another process would.
func answers[M proto.Message](i *instances, asked proto.Message, answer M) (M, error) {
	i.asked = over(i.t, asked, asked.ProtoReflect().New().Interface())
	if i.err != nil || i.answer == nil {
		return answer, i.err
	}
	return over(i.t, i.answer, proto.Message(answer)).(M), nil
}

func (i *instances) Start(_ context.Context, in *apipb.StartRequest, _ ...grpc.CallOption) (*apipb.Instance, error) {
	return answers(i, in, &apipb.Instance{})
}

func (i *instances) Lookup(_ context.Context, in *apipb.InstanceRequest, _ ...grpc.CallOption) (*apipb.Instance, error) {
	return answers(i, in, &apipb.Instance{})
}

func (i *instances) Stop(_ context.Context, in *apipb.InstanceRequest, _ ...grpc.CallOption) (*apipb.InstanceResponse, error) {
	return answers(i, in, &apipb.InstanceResponse{})
}

func (i *instances) Hibernate(_ context.Context, in *apipb.InstanceRequest, _ ...grpc.CallOption) (*apipb.InstanceResponse, error) {
	return answers(i, in, &apipb.InstanceResponse{})
}

func (i *instances) Attach(_ context.Context, in *apipb.AttachRequest, _ ...grpc.CallOption) (*apipb.Attached, error) {
	return answers(i, in, &apipb.Attached{})
}

func (i *instances) Detach(_ context.Context, in *apipb.AttachmentRequest, _ ...grpc.CallOption) (*apipb.InstanceResponse, error) {
	return answers(i, in, &apipb.InstanceResponse{})
}

func (i *instances) Touch(_ context.Context, in *apipb.AttachmentRequest, _ ...grpc.CallOption) (*apipb.InstanceResponse, error) {
	return answers(i, in, &apipb.InstanceResponse{})
}

func (i *instances) Signal(_ context.Context, in *apipb.SignalRequest, _ ...grpc.CallOption) (*apipb.SignalReply, error) {
	return answers(i, in, &apipb.SignalReply{})
}

func (i *instances) Stats(_ context.Context, in *apipb.ManagerStatsRequest, _ ...grpc.CallOption) (*apipb.ManagerStats, error) {
	return answers(i, in, &apipb.ManagerStats{})
}

func (i *instances) Watch(_ context.Context, in *apipb.WatchInstancesRequest, _ ...grpc.CallOption) (grpc.ServerStreamingClient[apipb.InstanceEvent], error) {
	_, err := answers(i, in, &apipb.InstanceResponse{})
	return &eventStream{events: i.events}, err
}

// eventStream ends after its events.
type eventStream struct {
	grpc.ClientStream

	events []*apipb.InstanceEvent
}

func (s *eventStream) Recv() (*apipb.InstanceEvent, error) {
	if len(s.events) == 0 {
		return nil, io.EOF
	}
	e := s.events[0]
	s.events = s.events[1:]
	return e, nil
}

// ref draws the name of an instance that is valid.
func ref(t *rapid.T) agent.InstanceRef {
	name := rapid.StringMatching("[a-z]{1,8}")
	return agent.InstanceRef{Scope: name.Draw(t, "scope"), Manager: name.Draw(t, "manager"), Key: name.Draw(t, "key")}
}

func asked(t *rapid.T, got *apipb.InstanceRef, want agent.InstanceRef) {
	t.Helper()
	r, err := convert.RefFromProto(got)
	if err != nil {
		t.Fatal(err)
	}
	same(t, want, r)
}

func TestInstancesOfAnotherProcessAnswerAsItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, of, ctx := *make1[agent.Instance](t), ref(t), context.Background()
		one.Partition = rapid.IntRange(0, 4095).Draw(t, "partition")
		api := &instances{t: t, answer: convert.InstanceToProto(&one)}
		r := convert.Remote{API: api, Fail: func(err error, _ bool) error { return err }}

		state := agent.JSON(rapid.String().Draw(t, "state"))
		got, err := r.Start(ctx, of, agent.StartInstance{InitialState: state})
		if err != nil {
			t.Fatal(err)
		}
		same(t, one, got)
		start := api.asked.(*apipb.StartRequest)
		asked(t, start.GetRef(), of)
		same(t, []byte(state), start.GetInitialState())

		if got, err = r.Lookup(ctx, of); err != nil {
			t.Fatal(err)
		}
		same(t, one, got)
		asked(t, api.asked.(*apipb.InstanceRequest).GetRef(), of)

		attach := agent.Attach{Attachment: rapid.String().Draw(t, "attachment"), TTL: millis(t)}
		want := agent.Attached{Instance: one, Attachment: rapid.String().Draw(t, "named"), ExpiresAt: rapid.Int64().Draw(t, "expires")}
		api.answer = &apipb.Attached{Instance: convert.InstanceToProto(&one), Attachment: want.Attachment, ExpiresAt: want.ExpiresAt}
		attached, err := r.Attach(ctx, of, attach)
		if err != nil {
			t.Fatal(err)
		}
		same(t, want, attached)
		sent, err := convert.AttachFromProto(api.asked.(*apipb.AttachRequest))
		if err != nil {
			t.Fatal(err)
		}
		same(t, attach, sent)
		asked(t, api.asked.(*apipb.AttachRequest).GetRef(), of)

		stats := *make1[agent.ManagerStats](t)
		api.answer = convert.ManagerStatsToProto(&stats)
		told, err := r.Stats(ctx, of.Scope, of.Manager)
		if err != nil {
			t.Fatal(err)
		}
		same(t, stats, told)
		if q := api.asked.(*apipb.ManagerStatsRequest); q.GetScope() != of.Scope || q.GetManager() != of.Manager {
			t.Errorf("asked for %v", q)
		}
	})
}

func TestSignalsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := ref(t)
		s := agent.Signal{Type: rapid.String().Draw(t, "type"), Data: agent.JSON(rapid.String().Draw(t, "data")), Cast: rapid.Bool().Draw(t, "cast")}
		if rapid.Bool().Draw(t, "request") {
			s.Request = *make1[agent.Request](t)
			s.Request.Client, s.Request.TTL = "c"+s.Request.Client, millis(t)
		}
		if rapid.Bool().Draw(t, "ack") {
			s.Ack = make1[agent.AckTimer](t)
		}
		want := *make1[agent.Reply](t)
		api := &instances{t: t, answer: convert.SignalReplyToProto(&want)}
		got, err := convert.Remote{API: api}.Signal(context.Background(), of, s)
		if err != nil {
			t.Fatal(err)
		}
		same(t, want, got)
		sent, err := convert.SignalFromProto(api.asked.(*apipb.SignalRequest))
		if err != nil {
			t.Fatal(err)
		}
		same(t, s, sent)
		asked(t, api.asked.(*apipb.SignalRequest).GetRef(), of)
	})
}

// A call without a result names its instance and its attachment. Of a broken call it is known whether it may have
// changed something.
func TestInstancesOfAnotherProcessAreNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of, attachment, ctx := ref(t), rapid.String().Draw(t, "attachment"), context.Background()
		broken, api, changed := errors.New("broken"), &instances{t: t}, false
		r := convert.Remote{API: api, Fail: func(err error, change bool) error { changed = change; return err }}
		calls := map[string]struct {
			call   func() error
			change bool
		}{
			"start":     {func() error { _, err := r.Start(ctx, of, agent.StartInstance{}); return err }, true},
			"lookup":    {func() error { _, err := r.Lookup(ctx, of); return err }, false},
			"stop":      {func() error { return r.Stop(ctx, of) }, true},
			"hibernate": {func() error { return r.Hibernate(ctx, of) }, true},
			"attach":    {func() error { _, err := r.Attach(ctx, of, agent.Attach{}); return err }, true},
			"detach":    {func() error { return r.Detach(ctx, of, attachment) }, true},
			"touch":     {func() error { return r.Touch(ctx, of, attachment) }, true},
			"signal":    {func() error { _, err := r.Signal(ctx, of, agent.Signal{}); return err }, true},
			"stats":     {func() error { _, err := r.Stats(ctx, of.Scope, of.Manager); return err }, false},
		}
		for name, c := range calls {
			api.err = nil
			if err := c.call(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if m, ok := api.asked.(interface{ GetRef() *apipb.InstanceRef }); ok {
				asked(t, m.GetRef(), of)
			}
			if m, ok := api.asked.(*apipb.AttachmentRequest); ok && m.GetAttachment() != attachment {
				t.Errorf("%s: attachment %q", name, m.GetAttachment())
			}
			if m, ok := api.asked.(*apipb.InstanceRequest); ok && m.GetIfErased() {
				t.Errorf("%s: only if it is erased", name)
			}
			api.err, changed = broken, !c.change
			if err := c.call(); !errors.Is(err, broken) || changed != c.change {
				t.Errorf("%s: %v, may have changed something: %t", name, err, changed)
			}
		}
		api.err = nil
		if err := r.Stop(agent.IfErased(ctx), of); err != nil || !api.asked.(*apipb.InstanceRequest).GetIfErased() {
			t.Errorf("an erased instance only: %v", err)
		}
	})
}

// A watch that its server ends is unavailable: the instances may change without an event.
func TestEventsOfInstancesSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := ref(t)
		want := rapid.SliceOfN(rapid.Make[agent.InstanceEvent](), 0, 3).Draw(t, "events")
		api := &instances{t: t}
		for i := range want {
			api.events = append(api.events, over(t, convert.InstanceEventToProto(&want[i]), &apipb.InstanceEvent{}))
		}
		r := convert.Remote{API: api, Fail: func(err error, _ bool) error { return err }}
		w := agent.InstanceWatch(of)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var got []agent.InstanceEvent
		var last error
		for e, err := range r.Watch(ctx, w) {
			if last = err; err == nil {
				got = append(got, e)
			}
		}
		same(t, want, got)
		if agent.CodeOf(last) != agent.CodeUnavailable {
			t.Errorf("at the end: %v", last)
		}
		same(t, w, convert.InstanceWatchFromProto(api.asked.(*apipb.WatchInstancesRequest)))

		cancel()
		if left := slices.Collect(func(yield func(error) bool) {
			for _, err := range r.Watch(ctx, w) {
				if err != nil && !yield(err) {
					return
				}
			}
		}); len(left) != 0 {
			t.Errorf("the caller's own end is an error: %v", left)
		}
	})
}
