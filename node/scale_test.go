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
	"dormouse/agent/layout"
	"dormouse/cluster/transport"
	"dormouse/instance"
)

// loadSize returns the number of instances of the test below: SIM_INSTANCES, or few.
func loadSize(t *testing.T) int {
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

// marker records its signals; a slow one outlasts the lease of its node.
type marker struct{ node string }

func (m marker) Handle(ctx context.Context, t *instance.Turn) error {
	var is mark
	if err := json.Unmarshal(t.Data(), &is); err != nil {
		return err
	}
	if t.Type() == "slow" {
		select {
		case <-time.After(nodeLease + 2*time.Second):
		case <-ctx.Done(): // it continues regardless, like a process that was paused
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

// loadCluster runs many instances on a cluster of three nodes, at times four.
type loadCluster struct {
	*chaosCluster
	sent []uint64 // :: instance → number of acknowledged signals; each instance has one caller

	mu         sync.Mutex
	complaints []string // what owners did against the rules; guarded by mu
}

func (c *loadCluster) complain(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.complaints = append(c.complaints, fmt.Sprintf(format, args...))
}

func loadRef(i int) agent.InstanceRef {
	return agent.InstanceRef{Manager: "crowd", Key: fmt.Sprint("k", i)}
}

// begin starts a node whose turns record its name.
func (c *loadCluster) begin(name string) {
	c.handlers = map[string]instance.GoHandler{"mark": {New: func(agent.InstanceRef) instance.Handler { return marker{name} }}}
	c.start(name)
}

// signal sends an instance its next signal, through random nodes, until it is acknowledged.
func (c *loadCluster) signal(i int, kind string, rng *rand.Rand) {
	n := c.sent[i] + 1
	signal := agent.Signal{Request: agent.Request{Client: fmt.Sprint("client-", i), Seq: n, Low: n}, Type: kind, Data: agent.JSON(fmt.Sprintf(`{"n":%d}`, n))}
	for range 100 {
		through := c.someone(rng)
		if through == nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		reply, err := through.Instances().Signal(ctx, loadRef(i), signal)
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

// trouble hits the nodes in turn: one joins; one is cut off during turns that outlast its lease,
// while both sides are called; one dies; one leaves.
func (c *loadCluster) trouble() {
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
	time.Sleep(2 * time.Second) // it still answers, as far as it knows
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

// leave removes a node from the cluster in order.
func (c *loadCluster) leave(name string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if _, err := c.awake["n1"].Operator().Change(ctx, layout.ChangeLeave, name); err != nil {
		c.t.Errorf("leave: %v", err)
	}
	if err := <-c.awake[name].done; !errors.Is(err, transport.ErrRemoved) {
		c.t.Errorf("%s stopped: %v", name, err)
	}
	c.lock()
	delete(c.awake, name)
	c.unlock()
}

// judge reads an instance's thread, and records what is wrong with it.
func (c *loadCluster) judge(i int) {
	c.t.Helper()
	read := agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: loadRef(i).Checkpoint()}}}
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

// liveThroughItAll signals instances while members join and leave, a node is cut off for longer
// than its lease during turns, and one dies. It returns the complaints.
func liveThroughItAll(t *testing.T, size int) []string {
	t.Helper()
	return liveThrough(t, size, (*loadCluster).trouble)
}

// liveThrough signals instances while something happens to their nodes, and returns the complaints.
func liveThrough(t *testing.T, size int, happens func(*loadCluster)) []string {
	t.Helper()
	c := &loadCluster{chaosCluster: &chaosCluster{simCluster: newPlacedCluster(t, 0), key: make(chan struct{}, 1)}, sent: make([]uint64, size)}
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

// callersMany is how many callers share the instances.
const callersMany = 20

// call signals a caller's own instances one after another, until over is closed. Each gets a signal
// about every ten seconds; some signals are slow.
func (c *loadCluster) call(caller int, over <-chan struct{}) {
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

// Each acknowledged signal has had its effect once, no two owners' effects are mixed, and in the
// end every instance answers. `make sim` with SIM_INSTANCES=5000 runs thousands.
func TestACrowdOfInstancesLivesThroughItAllSim(t *testing.T) {
	size := loadSize(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, complaint := range liveThroughItAll(t, size) {
			t.Error(complaint)
		}
	})
}
