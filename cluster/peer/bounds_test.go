package peer

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/cluster/keys"
	"dormouse/cluster/transport"
	apipb "dormouse/proto/api"
	peerpb "dormouse/proto/peer"
)

// idle returns a stream of forwarded commits that nothing sends.
func idle() *exchange {
	return &exchange{cancel: func() {}, wake: make(chan struct{}, 1), pending: map[uint64]*forwarded{}}
}

// queue submits a commit with a value of that many bytes, and returns its refusal, or nil if it is queued.
func queue(t *testing.T, x *exchange, size int) (refusal error) {
	t.Helper()
	c := agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: bytes.Repeat([]byte("x"), size)}}}
	if !x.submit(t.Context(), &c, func(_ agent.Result, err error) { refusal = err }) {
		t.Fatal("the stream is broken")
	}
	return refusal
}

// expectOverloaded fails the test unless err says that a commit was not applied and may be sent again.
func expectOverloaded(t *testing.T, err error) {
	t.Helper()
	var e *agent.Error
	if !errors.As(err, &e) || e.Code != agent.CodeOverloaded || e.RetryAfterMS == 0 || agent.OutcomeOf(err) != agent.Refused {
		t.Errorf("%+v, want overloaded", err)
	}
}

func TestCommitsThatWaitForAnAnswerAreBounded(t *testing.T) {
	x := idle()
	for n := range pendingCallsMax {
		if err := queue(t, x, 1); err != nil {
			t.Fatalf("commit %d: %v", n, err)
		}
		if n%100 == 0 {
			for x.frame() != nil { // a commit that was sent waits too
			}
		}
	}
	expectOverloaded(t, queue(t, x, 1))
}

func TestBytesThatAreNotSentAreBounded(t *testing.T) {
	x := idle()
	const size = 4 << 20
	for range queuedBytesMax/size - 1 {
		if err := queue(t, x, size); err != nil {
			t.Fatal(err)
		}
	}
	if err := queue(t, x, size/2); err != nil {
		t.Fatal(err)
	}
	expectOverloaded(t, queue(t, x, size))
	for x.frame() != nil { // what was sent makes room
	}
	if err := queue(t, x, size); err != nil {
		t.Errorf("after the others were sent: %v", err)
	}
}

// A message has a bounded number of calls and of bytes; a call that is larger travels alone.
func TestAMessageOfCommitsIsBounded(t *testing.T) {
	x := idle()
	frames := func() (sizes []int) {
		for calls := x.frame(); calls != nil; calls = x.frame() {
			sizes = append(sizes, len(calls))
		}
		return sizes
	}
	for range convert.FrameCallsMax + 1 {
		_ = queue(t, x, 1)
	}
	if got := frames(); len(got) != 2 || got[0] != convert.FrameCallsMax || got[1] != 1 {
		t.Errorf("small calls: %v", got)
	}
	for _, size := range []int{1, convert.FrameBytesMax, 1, convert.FrameBytesMax / 2, convert.FrameBytesMax / 2} {
		_ = queue(t, x, size)
	}
	if got := frames(); len(got) != 4 || got[0] != 1 || got[1] != 1 || got[2] != 2 || got[3] != 1 {
		t.Errorf("large calls: %v", got)
	}
}

func TestRequestsForATermAreBounded(t *testing.T) {
	waits := &terms{wake: make(chan struct{}, 1)}
	var refused error
	for range termsWaitingMax {
		waits.ask(func(_ string, _ uint64, err error) { refused = err })
	}
	if refused != nil {
		t.Fatal(refused)
	}
	waits.ask(func(_ string, _ uint64, err error) { refused = err })
	if agent.CodeOf(refused) != agent.CodeUnavailable {
		t.Errorf("one more: %v", refused)
	}
}

var errBroken = errors.New("the stream broke")

// brokenTerms is a stream of requests for terms whose peer does not answer.
type brokenTerms struct{ peerpb.Peer_TermsClient }

func (brokenTerms) Send(*peerpb.TermRequest) error { return nil }
func (brokenTerms) RecvMsg(any) error              { return errBroken }

// A peer that does not answer is in no term: its callers count the voters that follow a leader.
func TestARequestForATermWithoutAnAnswerFails(t *testing.T) {
	waits := &terms{wake: make(chan struct{}, 1)}
	var told []error
	for range 2 {
		waits.ask(func(_ string, _ uint64, err error) { told = append(told, err) })
	}
	waits.run(t.Context(), func(context.Context) (peerpb.Peer_TermsClient, error) { return brokenTerms{}, nil })
	if len(told) != 2 || !errors.Is(told[0], errBroken) || !errors.Is(told[1], errBroken) {
		t.Errorf("%v", told)
	}
}

// A node that was told of the next leader leaves the streams to that one alone.
func TestOnlyTheStreamsToOtherNodesThanTheLeaderEnd(t *testing.T) {
	pool := poolToSilence(t)
	pool.Leads("a")
	pool.mu.Lock()
	a := pool.links["a"]
	pool.mu.Unlock()
	if a == nil || a.exchange == nil {
		t.Fatal("the stream to the leader is not opened before its first commit")
	}
	x := a.exchange
	pool.endDeposed("b") // a leads again since
	if x.ended() {
		t.Error("the stream to the leader has ended")
	}
	pool.endDeposed("a")
	if x.ended() {
		t.Error("the stream to the leader has ended, for itself")
	}
	pool.Leads("b")
	pool.endDeposed("b")
	if !x.ended() {
		t.Error("the stream to the former leader goes on")
	}
}

func TestAClosedPoolConnectsNoMore(t *testing.T) {
	pool := poolToSilence(t)
	pool.Close()
	if _, err := pool.Status(t.Context(), "a"); agent.CodeOf(err) != agent.CodeUnavailable || len(pool.links) != 0 {
		t.Errorf("%v, %d connections", err, len(pool.links))
	}
}

// poolToSilence returns a pool to a server that answers no commit.
func poolToSilence(t *testing.T) *Pool {
	t.Helper()
	return poolOf(t, transport.Identity{Role: keys.Node, ClusterID: "c", Node: "n2"}, func(s *grpc.Server) { apipb.RegisterStoreServer(s, silence{}) })
}

type silence struct{ apipb.UnimplementedStoreServer }

func (silence) Exchange(s apipb.Store_ExchangeServer) error {
	<-s.Context().Done()
	return nil
}
