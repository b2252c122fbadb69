package instance_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/instance"
)

// counter counts its signals.
type counter struct{}

func (counter) Handle(_ context.Context, t *instance.Turn) error {
	var n int
	if _, err := fmt.Sscanf(string(t.State()), `{"n":%d}`, &n); err != nil && string(t.State()) != `{}` {
		return err
	}
	next := agent.JSON(fmt.Sprintf(`{"n":%d}`, n+1))
	if err := t.SetState(next); err != nil {
		return err
	}
	t.Append(agent.Draft{Kind: "count"})
	return t.Reply(next)
}

// Each signal is counted exactly once, in order. Meanwhile partitions drain and
// move. Nodes pause for longer than their leases and lose the table. Commits
// fail or lose their answers.
func TestEachSignalIsCountedExactlyOnce(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("DORMOUSE_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("DORMOUSE_SEED=%d", seed)
	options := func(o *instance.Options) {
		o.Handlers = map[string]instance.GoHandler{"f": {New: func(agent.InstanceRef) instance.Handler { return counter{} }}}
		o.AwakeMax = 15
	}
	sim(t, options, func(k *kit) {
		hosts, views := map[string]*instance.Host{"n1": k.host}, map[string]*nodeView{"n1": k.g}
		for _, node := range []string{"n2", "n3"} {
			hosts[node], views[node], _ = k.open(node, options)
		}
		k.put(agent.Manager{Name: "m", Handler: goHandler, IdleTimeout: 300 * time.Millisecond, SignalTTL: time.Second, Untracked: true})
		c := &chaos{kit: k, views: views, random: rand.New(rand.NewPCG(seed, 0))}
		hook(k.store, &k.store.before, func(agent.Commit) error { return c.fail(agent.CodeUnavailable) })
		hook(k.store, &k.store.after, func(agent.Commit) error { return c.fail(agent.CodeUnknown) })
		const keys, signals = 40, 25
		over, stop := context.WithCancel(k.Context())
		var troubles, callers sync.WaitGroup
		troubles.Go(func() { c.trouble(over, keys) })
		for n := range keys {
			callers.Go(func() { count(k, hosts, keyIn(n), signals) })
		}
		callers.Wait()
		stop()
		troubles.Wait()
		for n := range keys {
			if got := len(k.entries(keyIn(n))); got != signals {
				k.Errorf("%s has %d entries, want %d", keyIn(n), got, signals)
			}
		}
	})
}

// count sends signals one after the other to the current owner of the key, each
// until it is answered.
func count(k *kit, hosts map[string]*instance.Host, key string, signals int) {
	for n := 1; n <= signals; n++ {
		s := requested(signal("count", ""), key, uint64(n))
		for tries := 0; ; tries++ {
			h := hosts[k.world.partition(partition(key)).Owner]
			ctx, cancel := context.WithTimeout(k.Context(), 500*time.Millisecond)
			reply, err := h.Signal(ctx, ref(key), s)
			cancel()
			if err == nil {
				if want := fmt.Sprintf(`{"n":%d}`, n); string(reply.Data) != want {
					k.Errorf("%s: signal %d is answered with %s", key, n, reply.Data)
				}
				break
			}
			if code := agent.CodeOf(err); code != agent.CodeNotOwner && code != agent.CodeUnavailable && code != agent.CodeUnknown && code != agent.CodeOverloaded {
				k.Errorf("%s: signal %d: %v", key, n, err)
				return
			}
			if tries > 1000 {
				k.Errorf("%s: signal %d is not answered: %v", key, n, err)
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(time.Duration(n%5) * 100 * time.Millisecond) // some instances hibernate in between
	}
}

// chaos injects faults, in an order that its seed determines.
type chaos struct {
	*kit
	views  map[string]*nodeView
	mu     sync.Mutex
	random *rand.Rand
}

func (c *chaos) dice(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

func (c *chaos) fail(code agent.Code) error {
	if c.dice(12) == 0 {
		return agent.Errorf(code, "chaos")
	}
	return nil
}

func (c *chaos) trouble(ctx context.Context, keys int) {
	nodes := []string{"n1", "n2", "n3"}
	for ctx.Err() == nil {
		time.Sleep(time.Duration(c.dice(100)+20) * time.Millisecond)
		n, to := partition(keyIn(c.dice(keys))), nodes[c.dice(3)]
		owner := c.world.partition(n).Owner
		switch c.dice(4) {
		case 0: // the owner sees no later changes and takes its lease as valid
			c.views[owner].cut(time.Duration(c.dice(2000)) * time.Millisecond)
			c.world.give(n, to)
		case 1:
			c.world.give(n, to)
		case 2:
			c.world.drain(n, to)
		default:
			c.views[nodes[c.dice(3)]].mend()
		}
	}
	for _, g := range c.views {
		g.mend()
	}
}
