package grpc_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	rpc "google.golang.org/grpc"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/convert"
	"dormouse/internal/budget"
	apipb "dormouse/proto/api"
	"dormouse/server/grpc"
)

// The outcome of a commit must be known, so its reply has room on a full node. The answer to a read has none.
func TestAReplyToACommitHasRoomOnAFullNode(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		const total = 1 << 20
		h, bytes := &hold{}, budget.New(total)
		answer := make(chan struct{})
		f := &fake{submit: h.submit, read: func(context.Context, agent.Reads) (agent.Answers, error) {
			<-answer
			return agent.Answers{Index: 1, Answers: []agent.Answer{{Found: &agent.Value{Key: "k"}}}}, nil
		}}
		_, conn := serve(t, f, grpc.Options{Bytes: bytes})
		s := exchange(t, conn)
		send(t, s, commit(1, 0), read(2, &agent.GetValue{Key: "k"}))
		synctest.Wait()
		taken := int64(0)
		fill := func() {
			n := total - bytes.Used()
			bytes.Force("another", n)
			taken += n
		}
		fill()
		close(answer)
		if got := replies(t, s, 1); got[2].GetError().GetCode() != string(agent.CodeOverloaded) {
			t.Errorf("the read got %v", got)
		}
		synctest.Wait()
		fill() // what the read has left
		h.held[0](fine(1), nil)
		if got := replies(t, s, 1); got[1].GetCommit() == nil {
			t.Errorf("the commit got %v", got)
		}
		synctest.Wait()
		if used := bytes.Used(); used != taken {
			t.Errorf("%d bytes are in use after the replies, besides those of another", used-taken)
		}
		bytes.Give("another", taken)
	})
}

// A stream that ends gives back what its calls hold, whether or not they are answered later.
func TestAStreamThatEndsGivesItsRoomBack(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		h, bytes := &hold{}, budget.New(1<<20)
		_, conn := serve(t, &fake{submit: h.submit}, grpc.Options{Bytes: bytes})
		s := exchange(t, conn)
		send(t, s, commit(1, 0), commit(2, 0))
		synctest.Wait()
		if bytes.Used() == 0 {
			t.Error("calls in flight are not counted")
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		if c, ok := s.(interface{ CloseSend() error }); ok {
			_ = c.CloseSend()
		}
		h.held[0](fine(1), nil)
		synctest.Wait()
		h.held[1](fine(2), nil)
		synctest.Wait()
		if used := bytes.Used(); used != 0 {
			t.Errorf("%d bytes are in use after the end", used)
		}
	})
}

// Reads of one frame are answered together only if they ask for the same freshness: a linearizable read must not have the
// answer of a stale one.
func TestReadsOfAnotherFreshnessAreAnsweredApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bookkeeper{}
		_, conn := serve(t, &fake{read: b.read}, grpc.Options{})
		s := exchange(t, conn)
		of := func(id uint64, key string, stale bool, minIndex uint64) *apipb.Call {
			r := agent.Reads{Stale: stale, MinIndex: minIndex, Reads: []agent.Read{&agent.GetValue{Key: key}}}
			return &apipb.Call{Id: id, Call: &apipb.Call_Read{Read: convert.ReadsToProto(&r)}}
		}
		send(t, s, of(1, "stale", true, 0), of(2, "now", false, 0), of(3, "stale5", true, 5), of(4, "stale7", true, 7), of(5, "stale", true, 0))
		replies(t, s, 5)
		want := map[string]agent.Reads{"stale": {Stale: true}, "now": {}, "stale5": {Stale: true, MinIndex: 5}, "stale7": {Stale: true, MinIndex: 7}}
		for _, r := range b.asked {
			for _, one := range r.Reads {
				key := one.(*agent.GetValue).Key
				if w := want[key]; r.Stale != w.Stale || r.MinIndex != w.MinIndex {
					t.Errorf("%s was read with stale = %t and min_index = %d", key, r.Stale, r.MinIndex)
				}
			}
		}
	})
}

// signalled records signals.
type signalled struct {
	agent.Instances
	signals []agent.Signal
}

func (s *signalled) Signal(_ context.Context, _ agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	s.signals = append(s.signals, signal)
	return agent.Reply{}, nil
}

// Only a node acknowledges a timer with a signal: a client could end the timers of others.
func TestAClientAcknowledgesNoTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &signalled{}
		_, conn := serve(t, &fake{}, grpc.Options{Instances: host})
		signal := agent.Signal{Type: "x", Request: agent.Request{Client: "c", Seq: 1}, Ack: &agent.AckTimer{Manager: "m", Key: "k", ID: "t", Generation: 1}}
		if _, err := apipb.NewInstancesClient(conn).Signal(t.Context(), convert.SignalToProto(agent.InstanceRef{Manager: "m", Key: "k"}, signal)); err != nil {
			t.Fatal(err)
		}
		if len(host.signals) != 1 || host.signals[0].Type != "x" || host.signals[0].Ack != nil {
			t.Errorf("the node got %+v", host.signals)
		}
	})
}

// members returns members with their addresses.
func members(pairs ...string) (all []layout.MemberStatus) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, layout.MemberStatus{Member: layout.Member{ID: pairs[i], GRPCAddr: pairs[i+1]}})
	}
	return all
}

// A node that stops names the other members, to which clients can go.
func TestAStoppingNodeNamesTheOtherMembers(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		f := &fake{submit: atOnce, members: members("n1", "n1:1", "n2", "n2:1", "n3", "", "n4", "n4:1")}
		server, conn := serve(t, f, grpc.Options{})
		s := exchange(t, conn)
		send(t, s, commit(1, time.Minute))
		replies(t, s, 1)
		stopped := make(chan error, 1)
		go func() { stopped <- server.Shutdown(context.Background()) }()
		if _, err := s.Recv(); err == nil {
			t.Error("the stream goes on")
		}
		if got := s.(rpc.ClientStream).Trailer().Get(convert.MembersTrailer); !slices.Equal(got, []string{"n2:1", "n4:1"}) {
			t.Errorf("it names %q", got)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

// refusals counts the calls of Status that its operator refuses: a node records each in the audit log.
type refusals struct {
	layout.Operator

	n atomic.Int64
}

func (r *refusals) Status(ctx context.Context) (layout.ClusterStatus, error) {
	status, err := r.Operator.Status(ctx)
	if err != nil {
		r.n.Add(1)
	}
	return status, err
}

// A node that asks for tokens names the other members too, but only to callers that may see the cluster. It refuses
// nothing to itself.
func TestAStoppingNodeNamesTheOtherMembersOnlyToThoseThatMaySeeThem(t *testing.T) {
	for verb, want := range map[agent.Verb][]string{agent.VerbClusterRead: {"n2:1"}, agent.VerbClusterBackup: nil} {
		t.Run(string(verb), func(t *testing.T) {
			onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
				tokens := tokenStore{}
				secret := tokens.add("ci", agent.Grant{Scopes: []string{"*"}, Verbs: []agent.Verb{agent.VerbWrite, verb}})
				f := &fake{submit: atOnce, members: members("n1", "n1:1", "n2", "n2:1")}
				guarded := &refusals{Operator: access.NewOperator(f, tokens)}
				server := grpc.New(f, guarded, grpc.Options{Auth: access.NewAuthenticator(access.Options{Store: tokens}), Status: f.Status})
				s := exchange(t, serveOn(t, server), "authorization", "Bearer "+secret)
				send(t, s, commit(1, time.Minute))
				replies(t, s, 1)
				stopped := make(chan error, 1)
				go func() { stopped <- server.Shutdown(context.Background()) }()
				if _, err := s.Recv(); err == nil {
					t.Error("the stream goes on")
				}
				if got := s.(rpc.ClientStream).Trailer().Get(convert.MembersTrailer); !slices.Equal(got, want) {
					t.Errorf("it names %q, want %q", got, want)
				}
				if err := <-stopped; err != nil {
					t.Error(err)
				}
				if n := guarded.n.Load(); n != 0 {
					t.Errorf("%d calls were refused", n)
				}
			})
		})
	}
}
