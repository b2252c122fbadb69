package peer_test

import (
	"context"
	"net"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/convert"
	"dormouse/cluster/peer"
	peerpb "dormouse/proto/peer"
)

type doer func(e layout.RemoteTurn) (layout.RemoteTurnResult, error)

func (d doer) Handle(_ context.Context, e layout.RemoteTurn) (layout.RemoteTurnResult, error) {
	return d(e)
}

// handlersTo are handlers at a process that register serves.
func handlersTo(t *testing.T, register func(s *grpc.Server)) layout.RemoteHandlers {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer(grpc.MaxRecvMsgSize(convert.RequestMessageBytesMax), grpc.MaxSendMsgSize(convert.ReplyMessageBytesMax))
	register(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	pool := peer.NewPool(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) })
	t.Cleanup(pool.Close)
	return pool.Handlers("there")
}

func remoteTurn() layout.RemoteTurn {
	return layout.RemoteTurn{
		InstanceRef: agent.InstanceRef{Scope: "s", Manager: "m", Key: "k"}, Handler: "f", Version: 3, Storage: agent.KeepNone,
		Schedules: agent.JSON(`{"j":{}}`), Cron: agent.JSON(`{"i":{}}`),
		State: agent.JSON(`{"n":1}`), From: 2, Run: "l", Rev: 4, Revision: 5,
		Signal: &agent.Signal{Type: "t", Data: agent.JSON(`{"d":1}`), Request: agent.Request{Client: "c", Seq: 7, Low: 6}},
	}
}

func TestARemoteTurnArrivesWhole(t *testing.T) {
	at := int64(9)
	refusal := agent.Invalid("amount", "too much")
	wants := []agent.Op{&agent.PutValue{Key: "v", Bytes: []byte("x")}, &agent.AppendThread{Thread: remoteTurn().Checkpoint(), Entries: []agent.Draft{{Kind: "own"}}}}
	for what, want := range map[string]layout.RemoteTurnResult{
		"nothing":            {State: agent.JSON(`{}`)},
		"all":                {State: agent.JSON(`{"n":2}`), Durable: true, Reply: agent.JSON(`{"r":1}`), Entries: []agent.Draft{{ID: "i", At: &at, Kind: "x", Payload: agent.JSON(`{}`)}}, Ops: wants},
		"entries alone":      {State: agent.JSON(`{}`), Entries: []agent.Draft{{}, {Kind: "x"}}},
		"ops alone":          {State: agent.JSON(`{}`), Ops: wants[1:]}, // its own thread: the owner refuses that
		"jobs":               {State: agent.JSON(`{}`), Jobs: []agent.JSON{agent.JSON(`{"a":null}`), agent.JSON(`{"b":{}}`)}},
		"a refusal":          {Refusal: refusal},
		"a crash":            {Refusal: agent.Errorf(agent.CodeHandlerFailed, "ouch"), Crashed: true},
		"a refusal as wordy": {Refusal: agent.Errorf(agent.CodeUnavailable, "not me")},
	} {
		for _, sent := range []layout.RemoteTurn{remoteTurn(), {InstanceRef: remoteTurn().InstanceRef, Handler: "f", State: agent.JSON(`{}`)}} {
			var got layout.RemoteTurn
			done, err := handlersTo(t, func(s *grpc.Server) {
				peer.RegisterHandlers(s, doer(func(e layout.RemoteTurn) (layout.RemoteTurnResult, error) { got = e; return want, nil }))
			}).Handle(t.Context(), sent)
			if err != nil || !reflect.DeepEqual(got, sent) {
				t.Errorf("%s: %v, sent %+v, and %+v arrived", what, err, sent, got)
			}
			if len(done.Ops) == 0 {
				done.Ops = nil
			}
			if !reflect.DeepEqual(done, want) {
				t.Errorf("%s: %+v came back of %+v", what, done, want)
			}
		}
	}
}

// What cannot be sent would fail everywhere: it is the handler's fault. What did
// not come to be is not.
func TestAResultThatCannotBeSentIsAnErrorOfTheHandler(t *testing.T) {
	big := agent.JSON(`"` + strings.Repeat("x", convert.ReplyMessageBytesMax/2) + `"`)
	for reason, want := range map[string]layout.RemoteTurnResult{
		"invalid_change": {State: agent.JSON(`{}`), Entries: []agent.Draft{{Kind: "\xff"}}},
		"too_large":      {State: big, Ops: []agent.Op{&agent.PutValue{Key: "v", Bytes: big}}},
	} {
		handlers := handlersTo(t, func(s *grpc.Server) {
			peer.RegisterHandlers(s, doer(func(layout.RemoteTurn) (layout.RemoteTurnResult, error) { return want, nil }))
		})
		done, err := handlers.Handle(t.Context(), remoteTurn())
		if err != nil || done.Refusal == nil || done.Refusal.Code != agent.CodeHandlerFailed || done.Refusal.Reason != reason {
			t.Errorf("%s: %+v, %v", reason, done, err)
		}
	}
	many := make([]agent.Draft, agent.CommitEntriesMax+1)
	handlers := handlersTo(t, func(s *grpc.Server) {
		peer.RegisterHandlers(s, doer(func(layout.RemoteTurn) (layout.RemoteTurnResult, error) {
			return layout.RemoteTurnResult{Entries: many}, nil
		}))
	})
	if done, err := handlers.Handle(t.Context(), remoteTurn()); err != nil || done.Refusal == nil || done.Refusal.Reason != "too_large" {
		t.Errorf("too many entries: %+v, %v", done.Refusal, err)
	}

	stopping := agent.Errorf(agent.CodeUnavailable, "the node is stopping")
	handlers = handlersTo(t, func(s *grpc.Server) {
		peer.RegisterHandlers(s, doer(func(layout.RemoteTurn) (layout.RemoteTurnResult, error) { return layout.RemoteTurnResult{}, stopping }))
	})
	if _, err := handlers.Handle(t.Context(), remoteTurn()); !reflect.DeepEqual(err, stopping) {
		t.Errorf("%v", err)
	}
	nobody := handlersTo(t, func(*grpc.Server) {}) // as of an older version
	if _, err := nobody.Handle(t.Context(), remoteTurn()); agent.CodeOf(err) != agent.CodeUnavailable {
		t.Errorf("a process that handles no remote turns: %v", err)
	}
}

// rude answers what no process of ours does.
type rude struct {
	peerpb.UnimplementedHandlersServer
	answer *peerpb.HandleResponse
}

func (r rude) Handle(context.Context, *peerpb.HandleRequest) (*peerpb.HandleResponse, error) {
	return r.answer, nil
}

func TestADamagedAnswerIsUnavailable(t *testing.T) {
	for what, answer := range map[string]*peerpb.HandleResponse{
		"refusal":              {Refusal: []byte{0xff}},
		"wants":                {Wants: []byte{0xff}},
		"entries that are not": {Appends: true},
	} {
		handlers := handlersTo(t, func(s *grpc.Server) { peerpb.RegisterHandlersServer(s, rude{answer: answer}) })
		if done, err := handlers.Handle(t.Context(), remoteTurn()); agent.CodeOf(err) != agent.CodeUnavailable {
			t.Errorf("%s: %+v, %v", what, done, err)
		}
	}
}
