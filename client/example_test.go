package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"dormouse/agent"
	"dormouse/client"
	grpcfront "dormouse/server/grpc"
)

// toy is a minimal service for the examples: it keeps one thread, one claim and the
// checkpoints in memory.
type toy struct {
	fake
	mu          sync.Mutex
	entries     []agent.Entry
	claim       agent.Claim
	checkpoints map[string]agent.Checkpoint
}

func newToy() *toy {
	s := &toy{checkpoints: map[string]agent.Checkpoint{}}
	s.submit, s.read = s.apply, s.answer
	return s
}

func (s *toy) apply(_ context.Context, c agent.Commit, done func(agent.Result, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var r agent.Result
	if f := c.Fence; f != nil && f.Epoch != s.claim.Epoch {
		done(agent.Result{}, &agent.Error{Code: agent.CodeFenced, Op: -1, Epoch: s.claim.Epoch, Holder: s.claim.Holder, Final: true})
		return
	}
	for _, op := range c.Ops {
		switch op := op.(type) {
		case *agent.TakeClaim:
			s.claim = agent.Claim{Name: op.Claim, Holder: op.Holder, Epoch: s.claim.Epoch + 1, TTL: op.TTL}
			r.Results = append(r.Results, &agent.ClaimResult{Claim: s.claim})
		case *agent.ReleaseClaim:
			s.claim = agent.Claim{Name: op.Claim, Holder: op.To, Epoch: s.claim.Epoch + 1, TTL: op.TTL}
			r.Results = append(r.Results, &agent.ClaimResult{Claim: s.claim})
		case *agent.AppendThread:
			if rev := uint64(len(s.entries)); op.ExpectedRev != nil && *op.ExpectedRev != rev {
				done(agent.Result{}, &agent.Error{Code: agent.CodeConflict, Detail: "the thread has moved on", Rev: rev, Final: true})
				return
			}
			r.Results = append(r.Results, s.grow(op.Entries))
		case *agent.HibernateThread:
			r.Results = append(r.Results, s.grow(op.Entries[uint64(len(s.entries))-op.FromSeq:]))
		case *agent.PutCheckpoint:
			cp := agent.Checkpoint{Key: op.Key, State: op.State, Thread: op.Thread, Revision: s.checkpoints[op.Key].Revision + 1}
			s.checkpoints[op.Key] = cp
			r.Results = append(r.Results, &agent.CheckpointResult{Key: op.Key, Revision: cp.Revision, Thread: op.Thread})
		}
	}
	done(r, nil)
}

func (s *toy) grow(drafts []agent.Draft) *agent.ThreadResult {
	for _, d := range drafts {
		s.entries = append(s.entries, agent.Entry{Seq: uint64(len(s.entries)), Kind: d.Kind, Payload: d.Payload})
	}
	return &agent.ThreadResult{Thread: agent.Thread{ID: "chat", Rev: uint64(len(s.entries))}}
}

func (s *toy) answer(_ context.Context, r agent.Reads) (agent.Answers, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	thread := agent.Thread{ID: "chat", Rev: uint64(len(s.entries))}
	switch read := r.Reads[0].(type) {
	case *agent.LoadEntries:
		return agent.Answers{Answers: []agent.Answer{{Found: &agent.Entries{Thread: thread, Items: s.entries[read.From:]}}}}, nil
	case *agent.Thaw:
		cp := s.checkpoints[read.Key]
		return agent.Answers{Answers: []agent.Answer{{Found: &agent.Thawed{Checkpoint: cp, Thread: &thread, Entries: s.entries}}}}, nil
	default:
		return agent.Answers{Answers: []agent.Answer{{Err: agent.ErrNotFound}}}, nil
	}
}

// dialToy replaces client.Dial(client.Options{}), which connects to a node on this
// machine.
func dialToy() (c *client.Client, closeAll func()) { return dialService(newToy()) }

func dialService(s interface {
	agent.Submitter
	agent.Operator
},
) (c *client.Client, closeAll func()) {
	server := grpcfront.New(s, s, grpcfront.Options{})
	l := bufconn.Listen(1 << 20)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l)
	}()
	c, err := client.Dial(client.Options{Fixed: true, DialOptions: []grpc.DialOption{
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }),
	}})
	if err != nil {
		log.Fatal(err)
	}
	return c, func() {
		_ = c.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(ctx)
		<-served
	}
}

func Example() {
	c, closeAll := dialToy() // c, err := client.Dial(client.Options{})
	defer closeAll()
	ctx := context.Background()

	hello := agent.Draft{Kind: agent.KindMessage, Payload: agent.JSON(`{"role":"user","content":"hello"}`)}
	appended, err := c.Append(ctx, agent.AppendThread{Thread: "chat", Entries: []agent.Draft{hello}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("rev", appended.Thread.Rev)

	for e, err := range c.Entries(ctx, agent.LoadEntries{Thread: "chat"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Seq, e.Kind, string(e.Payload))
	}
	// Output:
	// rev 1
	// 0 message {"role":"user","content":"hello"}
}

// A refused commit was not applied; an unknown one may still apply.
func ExampleClient_Commit() {
	c, closeAll := dialToy()
	defer closeAll()
	stale := uint64(7)
	_, err := c.Commit(context.Background(), agent.Commit{Ops: []agent.Op{
		&agent.AppendThread{Thread: "chat", ExpectedRev: &stale, Entries: []agent.Draft{{Kind: agent.KindNote}}},
		&agent.PutCheckpoint{Key: "agent-1", State: agent.JSON(`{"turn":8}`)},
	}})
	switch agent.OutcomeOf(err) {
	case agent.Done:
		fmt.Println("applied")
	case agent.Refused:
		fmt.Println("refused:", agent.CodeOf(err))
	case agent.Undecided:
		fmt.Println("may yet apply:", err)
	}
	// Output: refused: conflict
}

// An agent hibernates with its state and thread in one commit, and continues from
// there.
func ExampleScope_Hibernate() {
	c, closeAll := dialToy()
	defer closeAll()
	ctx := context.Background()
	_, err := c.Hibernate(ctx,
		agent.PutCheckpoint{Key: "agent-1", State: agent.JSON(`{"mood":"sleepy"}`), Lifecycle: "idle"},
		&agent.HibernateThread{Thread: "chat", Rev: 1, Entries: []agent.Draft{{Kind: agent.KindMessage, Payload: agent.JSON(`{"content":"good night"}`)}}})
	if err != nil {
		log.Fatal(err)
	}
	thawed, err := c.Thaw(ctx, "agent-1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(thawed.Checkpoint.State), len(thawed.Entries), "entry, pointer at rev", thawed.Checkpoint.Thread.Rev)
	// Output: {"mood":"sleepy"} 1 entry, pointer at rev 1
}

// The holder of a claim writes under it. A previous holder, which may not know that it
// lost the claim, is refused.
func ExampleScope_Under() {
	c, closeAll := dialToy()
	defer closeAll()
	ctx := context.Background()
	mine, err := c.TakeClaim(ctx, agent.TakeClaim{Claim: "chat", Holder: "worker-1", TTL: 10 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	note := agent.AppendThread{Thread: "chat", Entries: []agent.Draft{{Kind: agent.KindNote}}}
	_, err = c.Under(mine).Append(ctx, note)
	fmt.Println("while it is held:", err)

	if _, err := c.ReleaseClaim(ctx, agent.ReleaseClaim{Claim: "chat", Holder: "worker-1", Epoch: mine.Epoch, To: "worker-2"}); err != nil {
		log.Fatal(err)
	}
	_, err = c.Under(mine).Append(ctx, note)
	var refusal *agent.Error
	if errors.As(err, &refusal) {
		fmt.Println("afterwards:", refusal.Code, "by", refusal.Holder)
	}
	// Output:
	// while it is held: <nil>
	// afterwards: fenced by worker-2
}
