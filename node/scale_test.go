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
	"dormouse/cluster"
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

// mark is what a turn leaves in its instance's thread.
type mark struct {
	N    uint64 `json:"n"`    // of the signal
	Node string `json:"node"` // where it was handled
	Life string `json:"life"` // of the instance there
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
	is.Node, is.Life = m.node, t.Life()
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
				c.t.Errorf("signal %d of instance %d is at rev %d", n, i, reply.Rev)
			}
			return
		}
		if code := agent.CodeOf(err); code != agent.CodeUnknown && code != agent.CodeUnavailable && code != agent.CodeOverloaded {
			c.t.Errorf("signal %d of instance %d: %v", n, i, err)
			return
		}
	}
	c.t.Errorf("signal %d of instance %d was not answered", n, i)
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

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if _, err := c.awake["n1"].Operator().Change(ctx, agent.ChangeLeave, "n4"); err != nil {
		c.t.Errorf("leave: %v", err)
	}
	if err := <-c.awake["n4"].done; !errors.Is(err, cluster.ErrRemoved) {
		c.t.Errorf("n4 stopped: %v", err)
	}
	c.lock()
	delete(c.awake, "n4")
	c.unlock()
	c.even("n1", "n2", "n3")
}

// judge checks an instance's thread: each acknowledged signal once and in order,
// and no life of the instance goes on once another one has begun.
func (c *crowd) judge(i int) {
	c.t.Helper()
	read := agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: crowdRef(i).Checkpoint()}}}
	answers, err := c.leader().Service().Read(context.Background(), read)
	if err != nil || answers.Answers[0].Err != nil {
		c.t.Fatalf("instance %d: %v, %v", i, err, answers.Answers)
	}
	items := answers.Answers[0].Found.(*agent.Entries).Items
	if uint64(len(items)) != c.sent[i] {
		c.t.Errorf("instance %d has %d marks, %d signals were acknowledged", i, len(items), c.sent[i])
	}
	over, life := map[string]bool{}, ""
	for n, e := range items {
		var is mark
		if err := json.Unmarshal(e.Payload, &is); err != nil || is.N != uint64(n+1) {
			c.t.Fatalf("mark %d of instance %d is %s", n+1, i, e.Payload)
		}
		if now := is.Node + " " + is.Life; now != life {
			over[life], life = true, now
		}
		if over[life] {
			c.t.Errorf("instance %d went on at %s after another owner: %+v", i, life, items)
		}
	}
}

// Instances are signalled all the while as members come and go, a node is cut
// off for longer than its lease in the middle of turns, and one dies: each
// signal that was acknowledged has had its effect once, no two owners' effects
// are mixed, and in the end every instance answers. `make sim` with
// SIM_INSTANCES=5000 keeps thousands.
func TestACrowdOfInstancesLivesThroughItAllSim(t *testing.T) {
	size := crowdSize(t)
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{&streets{town: placedTown(t, 0), key: make(chan struct{}, 1)}, make([]uint64, size)}
		for i := range 3 {
			c.begin(name(i))
		}
		c.settle(3)
		put := &agent.PutManager{Manager: agent.Manager{
			Name: "crowd", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "mark"}, IdleTimeout: 10 * time.Second,
		}}
		if _, err := c.leader().Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{put}}); err != nil {
			t.Fatal(err)
		}
		over := make(chan struct{})
		var callers sync.WaitGroup
		const many = 20
		for caller := range many {
			callers.Go(func() {
				rng := rand.New(rand.NewPCG(rand.Uint64(), 0))
				// Each instance hears something every ten seconds or so; some is slow.
				pause := 10 * time.Second * many / time.Duration(max(size, many))
				for i := caller; ; i += many {
					if i >= size {
						i = caller
					}
					if i >= size {
						return
					}
					kind := "mark"
					if rng.IntN(max(8, size/many)) == 0 {
						kind = "slow"
					}
					c.signal(i, kind, rng)
					select {
					case <-over:
						return
					case <-time.After(rand.N(2 * pause)):
					}
				}
			})
		}
		time.Sleep(5 * time.Second)
		c.trouble()
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
	})
}
