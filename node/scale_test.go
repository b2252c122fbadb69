package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/cluster/transport"
	"dormouse/instance"
)

// crowdSize is how many instances the test below keeps: SIM_INSTANCES, or few.
func crowdSize(t *testing.T) int {
	t.Helper()
	text := os.Getenv("SIM_INSTANCES")
	if text == "" {
		return 24
	}
	size, err := strconv.Atoi(text)
	if err != nil || size < 1 {
		t.Fatalf("SIM_INSTANCES=%q", text)
	}
	return size
}

// marker marks its signals; a slow one outlasts the lease of its node.
type marker struct{ node string }

func (m marker) Handle(ctx context.Context, t *instance.Turn) error {
	var is mark
	if err := json.Unmarshal(t.Data(), &is); err != nil {
		return err
	}
	if t.Type() == "slow" {
		select {
		case <-time.After(townLease + 2*time.Second):
		case <-ctx.Done(): // it goes on regardless, as a process does that was paused
		}
	}
	is.Node, is.Life = m.node, t.Run()
	text, err := json.Marshal(is)
	if err != nil {
		return err
	}
	t.Append(agent.Draft{Kind: "mark", Payload: text})
	return nil
}

// crowd is many instances in streets of three nodes, at times four.
type crowd struct {
	*streets
	sent []uint64 // :: instance → signals that were acknowledged; each is one caller's

	mu         sync.Mutex
	complaints []string // what an owner may not do, and was seen to; guarded by mu
}

func (c *crowd) complain(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.complaints = append(c.complaints, fmt.Sprintf(format, args...))
}

func crowdRef(i int) agent.InstanceRef {
	return agent.InstanceRef{Manager: "crowd", Key: fmt.Sprint("k", i)}
}

// begin starts a node whose turns say where they were.
func (c *crowd) begin(name string) {
	c.handlers = map[string]instance.GoHandler{"mark": {New: func(agent.InstanceRef) instance.Handler { return marker{name} }}}
	c.start(name)
}

// signal sends an instance its next signal, through whichever node, until it is
// acknowledged.
func (c *crowd) signal(i int, kind string, rng *rand.Rand) {
	n := c.sent[i] + 1
	signal := agent.Signal{Request: agent.Request{Client: fmt.Sprint("client-", i), Seq: n, Low: n}, Type: kind, Data: agent.JSON(fmt.Sprintf(`{"n":%d}`, n))}
	for range 100 {
		through := c.someone(rng)
		if through == nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		reply, err := through.Instances().Signal(ctx, crowdRef(i), signal)
		cancel()
		if err == nil {
			if c.sent[i] = n; reply.Rev != n {
				c.complain("signal %d of instance %d is at rev %d", n, i, reply.Rev)
			}
			return
		}
		if code := agent.CodeOf(err); code != agent.CodeUnknown && code != agent.CodeUnavailable && code != agent.CodeOverloaded {
			c.complain("signal %d of instance %d: %v", n, i, err)
			return
		}
	}
	c.complain("signal %d of instance %d was not answered", n, i)
}

// trouble comes to the nodes in turn: one joins, one is cut off in the middle of
// turns that outlast its lease while both sides are asked, one dies, one leaves.
func (c *crowd) trouble() {
	c.lock()
	c.begin("n4")
	c.unlock()
	c.settle(4)
	c.even("n1", "n2", "n3", "n4")

	cut := c.follower().name
	c.isolate(cut)
	rehomed := time.Now()
	c.await("the others to own it all", func() bool { return shares(c.leader())[cut] == 0 && shares(c.leader())[""] == 0 })
	if took := time.Since(rehomed); took > rehomedMax {
		c.t.Errorf("what %s had was another's only after %v", cut, took)
	}
	time.Sleep(2 * time.Second) // it answers for itself yet, as far as it knows
	c.heal()
	c.even("n1", "n2", "n3", "n4")

	lost := c.leader().name
	c.lock()
	c.crash(lost)
	c.unlock()
	rehomed = time.Now()
	c.await("the others to own it all", func() bool { return shares(c.leader())[lost] == 0 && shares(c.leader())[""] == 0 })
	if took := time.Since(rehomed); took > rehomedMax {
		c.t.Errorf("what %s had was another's only after %v", lost, took)
	}
	c.lock()
	c.begin(lost)
	c.unlock()
	c.settle(4)

	c.leave("n4")
	c.even("n1", "n2", "n3")
}

// leave takes a node out of the cluster in order.
func (c *crowd) leave(name string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if _, err := c.awake["n1"].Operator().Change(ctx, agent.ChangeLeave, name); err != nil {
		c.t.Errorf("leave: %v", err)
	}
	if err := <-c.awake[name].done; !errors.Is(err, transport.ErrRemoved) {
		c.t.Errorf("%s stopped: %v", name, err)
	}
	c.lock()
	delete(c.awake, name)
	c.unlock()
}

// judge reads an instance's thread, and complains of what is wrong with it.
func (c *crowd) judge(i int) {
	c.t.Helper()
	read := agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: crowdRef(i).Checkpoint()}}}
	answers, err := c.leader().Service().Read(context.Background(), read)
	if err != nil || answers.Answers[0].Err != nil {
		c.t.Fatalf("instance %d: %v, %v", i, err, answers.Answers)
	}
	items := answers.Answers[0].Found.(*agent.Entries).Items
	marks := make([]mark, len(items))
	for n, e := range items {
		if err := json.Unmarshal(e.Payload, &marks[n]); err != nil {
			c.t.Fatalf("mark %d of instance %d is %s", n+1, i, e.Payload)
		}
	}
	if wrong := wrongMarks(marks, c.sent[i]); wrong != "" {
		c.complain("instance %d: %s: %+v", i, wrong, marks)
	}
}

// liveThroughItAll signals instances all the while as members come and go, a node
// is cut off for longer than its lease in the middle of turns, and one dies. It
// returns what was complained of.
func liveThroughItAll(t *testing.T, size int) []string {
	t.Helper()
	return liveThrough(t, size, (*crowd).trouble)
}

// liveThrough signals instances all the while as something happens to their
// nodes, and returns what was complained of.
func liveThrough(t *testing.T, size int, happens func(*crowd)) []string {
	t.Helper()
	c := &crowd{streets: &streets{town: placedTown(t, 0), key: make(chan struct{}, 1)}, sent: make([]uint64, size)}
	for i := range 3 {
		c.begin(name(i))
	}
	c.settle(3)
	put := &agent.PutManager{Manager: agent.Manager{
		Name: "crowd", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "mark"}, IdleTimeout: 10 * time.Second, Untracked: true,
	}}
	if _, err := c.leader().Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{put}}); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	var callers sync.WaitGroup
	for caller := range callersMany {
		callers.Go(func() { c.call(caller, over) })
	}
	time.Sleep(5 * time.Second)
	happens(c)
	close(over)
	callers.Wait()
	rng := rand.New(rand.NewPCG(1, 1))
	signals := uint64(0)
	for i := range size {
		c.signal(i, "mark", rng)
		c.judge(i)
		signals += c.sent[i]
	}
	t.Logf("%d instances, %d signals", size, signals)
	c.agree()
	return c.complaints
}

// callersMany is how many callers share a crowd's instances.
const callersMany = 20

// call signals a caller's own instances one after another, until it is over. Each
// hears something every ten seconds or so; some of it is slow.
func (c *crowd) call(caller int, over <-chan struct{}) {
	size := len(c.sent)
	rng := rand.New(rand.NewPCG(rand.Uint64(), 0))
	pause := 10 * time.Second * callersMany / time.Duration(max(size, callersMany))
	for i := caller; ; i += callersMany {
		if i >= size {
			i = caller
		}
		if i >= size {
			return
		}
		kind := "mark"
		if rng.IntN(max(8, size/callersMany)) == 0 {
			kind = "slow"
		}
		c.signal(i, kind, rng)
		select {
		case <-over:
			return
		case <-time.After(rand.N(2 * pause)):
		}
	}
}

// Each signal that was acknowledged has had its effect once, no two owners'
// effects are mixed, and in the end every instance answers. `make sim` with
// SIM_INSTANCES=5000 keeps thousands.
func TestACrowdOfInstancesLivesThroughItAllSim(t *testing.T) {
	size := crowdSize(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, complaint := range liveThroughItAll(t, size) {
			t.Error(complaint)
		}
	})
}
