package node_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// call and answer are one operation on one key, for porcupine.
type call struct {
	key   string
	put   bool
	value int // of a put; values are never used twice
	cas   int // the value that a put expects to replace; -1 for any
}

type answer struct {
	value   int  // of a get
	refused bool // a swap that found another value
	nothing bool // definitely not applied, for a reason that is not about the key
	unknown bool // a put that may still apply, or a get without an answer
}

// register is a checkpoint with compare-and-set: the guarantee of a Service for one key.
var register = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, op := range history {
			byKey[op.Input.(call).key] = append(byKey[op.Input.(call).key], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return 0 },
	Step: func(state, input, output any) (bool, any) {
		c, a, now := input.(call), output.(answer), state.(int)
		switch {
		case !c.put:
			return a.unknown || a.value == now, now
		case a.unknown: // it has no return, so it may also never take effect
			if c.cas >= 0 && c.cas != now {
				return true, now
			}
			return true, c.value
		case a.refused:
			return c.cas >= 0 && c.cas != now, now
		default:
			return c.cas < 0 || c.cas == now, c.value
		}
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v → %+v", input, output) },
}

// recorder records a history.
type recorder struct {
	began time.Time

	mu      sync.Mutex
	history []porcupine.Operation // guarded by mu
	next    int                   // guarded by mu; the newest value used
}

func (r *recorder) value() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	return r.next
}

func (r *recorder) record(client int, c call, called time.Time, a answer) {
	op := porcupine.Operation{
		ClientId: client, Input: c, Output: a,
		Call: called.Sub(r.began).Nanoseconds(), Return: time.Since(r.began).Nanoseconds(),
	}
	if a.unknown {
		op.Return = (1000 * time.Hour).Nanoseconds()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, op)
}

// user makes random calls through random nodes until ctx ends.
func (r *recorder) user(ctx context.Context, w *chaosCluster, client int, rng *rand.Rand) {
	known := map[string]int{} // the last values that this user saw
	for ctx.Err() == nil {
		time.Sleep(time.Duration(1+rng.IntN(30)) * time.Millisecond)
		through := w.someone(rng)
		if through == nil {
			continue
		}
		c := call{key: fmt.Sprint("k", rng.IntN(4)), put: rng.IntN(2) == 0, cas: -1}
		bound, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		called := time.Now()
		if c.put {
			c.value = r.value()
			if rng.IntN(2) == 0 {
				c.cas = known[c.key]
			}
			a := compareAndPut(bound, through.Service(), c)
			if a == (answer{}) {
				known[c.key] = c.value
			}
			if !a.nothing {
				r.record(client, c, called, a)
			}
		} else if n, err := get(bound, through.Service(), c.key); err == nil {
			known[c.key] = n
			r.record(client, c, called, answer{value: n})
		}
		cancel()
	}
}

// compareAndPut swaps by the checkpoint's revision: the log decides.
func compareAndPut(ctx context.Context, s agent.Service, c call) answer {
	op := &agent.PutCheckpoint{Key: c.key, State: agent.JSON(fmt.Sprintf(`{"n":%d}`, c.value))}
	if c.cas >= 0 {
		revision, n, err := revisionOf(ctx, s, c.key)
		if err != nil {
			return answer{nothing: true}
		}
		if n != c.cas {
			return answer{refused: true}
		}
		op.IfRevision = &revision
	}
	_, err := s.Commit(ctx, agent.Commit{Ops: []agent.Op{op}})
	switch {
	case err == nil:
		return answer{}
	case errors.Is(err, agent.ErrRevisionMismatch):
		return answer{refused: true}
	case agent.OutcomeOf(err) == agent.Refused:
		return answer{nothing: true}
	default:
		return answer{unknown: true}
	}
}

func revisionOf(ctx context.Context, s agent.Service, key string) (revision uint64, n int, err error) {
	answers, err := s.Read(ctx, agent.Reads{Reads: []agent.Read{&agent.GetCheckpoint{Key: key}}})
	if err != nil {
		return 0, 0, err
	}
	found, exists := answers.Answers[0].Found.(*agent.Checkpoint)
	if !exists {
		return 0, 0, nil
	}
	_, err = fmt.Sscanf(string(found.State), `{"n":%d}`, &n)
	return found.Revision, n, err
}

// chaosCluster is a cluster whose nodes stop and start while users call them.
type chaosCluster struct {
	*simCluster
	// key is a semaphore that guards awake. It is not a mutex, because a start or a crash takes
	// virtual time, which does not advance while a goroutine waits for a mutex.
	key chan struct{}
}

func (w *chaosCluster) lock()   { w.key <- struct{}{} }
func (w *chaosCluster) unlock() { <-w.key }

func (w *chaosCluster) someone(rng *rand.Rand) *testNode {
	w.lock()
	defer w.unlock()
	return w.awake[name(rng.IntN(3))]
}

// trouble causes a fault in the cluster, and repairs it after a while.
func (w *chaosCluster) trouble(rng *rand.Rand) {
	victim := name(rng.IntN(3))
	switch rng.IntN(5) {
	case 0:
		w.isolate(victim)
	case 1: // in one direction only
		w.links.Block(victim, name(rng.IntN(3)))
	case 2:
		w.links.Delay(name(rng.IntN(3)), victim, time.Duration(rng.IntN(1500))*time.Millisecond)
	case 3:
		w.lock()
		w.crash(victim)
		w.unlock()
		time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond)
		w.lock()
		w.start(victim)
		w.unlock()
	case 4:
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		w.lock()
		through := w.awake[victim]
		w.unlock()
		_, _ = through.Operator().Change(ctx, layout.ChangeTransfer, "") // it may fail now
		cancel()
	}
	time.Sleep(time.Duration(500+rng.IntN(4000)) * time.Millisecond)
	w.heal()
	for i := range 3 {
		for j := range 3 {
			w.links.Delay(name(i), name(j), time.Millisecond)
		}
	}
}

// Users on all nodes read, write and swap a few keys while the network and the nodes fail. Their
// observations must be linearizable (Herlihy and Wing 1990), and in the end the nodes must be equal
// in every row.
func TestChaosIsLinearizableSim(t *testing.T) {
	seed := uint64(time.Now().UnixNano()) ^ rand.Uint64()
	t.Logf("seed %d", seed)
	var r *recorder
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &chaosCluster{simCluster: newSimCluster(t, 3), key: make(chan struct{}, 1)}
		r = &recorder{began: time.Now()}
		ctx, stop := context.WithCancel(context.Background())
		var users sync.WaitGroup
		for client := range 5 {
			rng := rand.New(rand.NewPCG(seed, uint64(client)))
			users.Go(func() { r.user(ctx, w, client, rng) })
		}
		rng := rand.New(rand.NewPCG(seed, 99))
		for range 6 {
			time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
			w.trouble(rng)
		}
		stop()
		users.Wait()
		w.await("a write after it all", func() bool {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			return put(ctx, w.leader().Service(), "last", 1) == nil
		})
		w.agree()
	})
	verdict, info := porcupine.CheckOperationsVerbose(register, r.history, time.Minute)
	if verdict != porcupine.Ok {
		file := t.TempDir() + "/history.html"
		_ = porcupine.VisualizePath(register, info, file)
		t.Fatalf("%d operations: %v; picture in %s", len(r.history), verdict, file)
	}
	if len(r.history) < 100 {
		t.Fatalf("only %d operations were made: that proves little", len(r.history))
	}
}
