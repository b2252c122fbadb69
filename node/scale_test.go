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

// wrongMarks says what is wrong with an instance's marks, if anything: each
// acknowledged signal has left one, in order, and no life of the instance goes on
// once another one has begun.
func wrongMarks(marks []mark, acknowledged uint64) string {
	if uint64(len(marks)) != acknowledged {
		return fmt.Sprintf("%d marks, %d signals were acknowledged", len(marks), acknowledged)
	}
	over, life := map[string]bool{}, ""
	for n, is := range marks {
		if is.N != uint64(n+1) {
			return fmt.Sprintf("mark %d is of signal %d", n+1, is.N)
		}
		if now := is.Node + " " + is.Life; now != life {
			over[life], life = true, now
		}
		if over[life] {
			return fmt.Sprintf("it went on at %s after another owner", life)
		}
	}
	return ""
}

// liveThroughItAll signals instances all the while as members come and go, a node
// is cut off for longer than its lease in the middle of turns, and one dies. It
// returns what was complained of.
func liveThroughItAll(t *testing.T, size int) []string {
	t.Helper()
	c := &crowd{streets: &streets{town: placedTown(t, 0), key: make(chan struct{}, 1)}, sent: make([]uint64, size)}
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
	for caller := range callersMany {
		callers.Go(func() { c.call(caller, over) })
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

// The judge of a crowd is not blind.
func TestWhatAnOwnerMayNotDoIsSeenInTheMarks(t *testing.T) {
	a, b, again := mark{Node: "n1", Life: "1"}, mark{Node: "n2", Life: "1"}, mark{Node: "n1", Life: "2"}
	at := func(n uint64, m mark) mark { m.N = n; return m }
	for _, c := range []struct {
		name         string
		marks        []mark
		acknowledged uint64
		wrong        bool
	}{
		{"nothing", nil, 0, false},
		{"one owner after another", []mark{at(1, a), at(2, a), at(3, b), at(4, again)}, 4, false},
		{"a lost one", []mark{at(1, a)}, 2, true},
		{"one that was lost in between", []mark{at(1, a), at(3, a)}, 2, true},
		{"one that was done twice", []mark{at(1, a), at(1, b)}, 1, true},
		{"one that was done twice where another was lost", []mark{at(1, a), at(1, a)}, 2, true},
		{"out of order", []mark{at(2, a), at(1, a)}, 2, true},
		{"an owner that goes on after the next has begun", []mark{at(1, a), at(2, b), at(3, a)}, 3, true},
	} {
		if wrong := wrongMarks(c.marks, c.acknowledged); (wrong != "") != c.wrong {
			t.Errorf("%s: %q", c.name, wrong)
		}
	}
}
