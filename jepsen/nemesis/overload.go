package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/client"
)

var overloading = fault{
	name: "overload", about: "many more clients: with entries of 1 MiB, or with so many commits that the queue is full",
	variants: []variant{
		{name: "large entries", nodesMin: 1, shortest: 4 * time.Second, longest: 15 * time.Second, begin: flooding(bulky)},
		{name: "many commits", nodesMin: 1, shortest: 4 * time.Second, longest: 15 * time.Second, begin: flooding(tiny)},
	},
}

// load is the amount of writing in a flood.
type load struct {
	clients int
	flying  int   // commits in flight per client
	bytes   int   // of each value
	most    int64 // total bytes; the disks are bounded too
	scope   string
}

var (
	// bulky is far more than the harness's limit of the log, so that the nodes take
	// several snapshots.
	bulky = load{clients: 2, flying: 4, bytes: 1 << 20, most: 400 << 20, scope: "flood"}
	// tiny is more commits in flight than a leader queues (16,384).
	tiny = load{clients: 6, flying: agent.RequestWindowMax, bytes: 64, most: 128 << 20, scope: "flood"}
)

// floodKeys is how many values a flood overwrites repeatedly, so that the state stays
// small while the log grows.
const floodKeys = 16

func flooding(l load) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		a.begins("%d clients with up to %d commits of %d bytes in flight each", l.clients, l.flying, l.bytes)
		stop := a.background(ctx, a.flood(l))
		return func(context.Context) error {
			stop()
			return nil
		}, nil
	}
}

// flood returns a function that writes as fast as possible until its context ends or
// all is written.
func (a *act) flood(l load) func(ctx context.Context) {
	payload := make([]byte, l.bytes)
	noise := rand.NewChaCha8([32]byte{byte(a.Seed)})
	_, _ = noise.Read(payload) // it never fails
	var endpoints []string
	for _, h := range a.members() {
		endpoints = append(endpoints, h.GRPC())
	}
	return func(ctx context.Context) {
		var left, done, refused, unknown, cut atomic.Int64
		left.Store(l.most)
		var wait sync.WaitGroup
		for n := range l.clients {
			wait.Go(func() {
				c, err := a.Dial(endpoints...)
				if err != nil {
					a.note("a client of the flood: %v", err)
					return
				}
				defer c.Close() //nolint:errcheck // commits in flight are cancelled
				pour(ctx, c, l, n, payload, &left, func(err error) {
					if ctx.Err() != nil {
						cut.Add(1)
						return
					}
					switch agent.OutcomeOf(err) {
					case agent.Done:
						done.Add(1)
					case agent.Refused:
						refused.Add(1)
					case agent.Undecided:
						unknown.Add(1)
					}
				})
			})
		}
		wait.Wait()
		a.note("commits of the flood: %d applied, %d refused, %d unknown, %d cancelled at its end", done.Load(), refused.Load(), unknown.Load(), cut.Load())
	}
}

// pour submits one client's commits, with up to l.flying in flight.
func pour(ctx context.Context, c *client.Client, l load, n int, payload []byte, left *atomic.Int64, told func(error)) {
	flying := make(chan struct{}, l.flying)
	var settled sync.WaitGroup
	defer settled.Wait()
	for i := 0; ctx.Err() == nil && left.Add(-int64(l.bytes)) >= 0; i++ {
		select {
		case flying <- struct{}{}:
		case <-ctx.Done():
			return
		}
		put := &agent.PutValue{Key: fmt.Sprintf("flood-%d-%d", n, i%floodKeys), Bytes: payload}
		settled.Add(1)
		c.Submit(ctx, agent.Commit{Scope: l.scope, Ops: []agent.Op{put}}, func(_ agent.Result, err error) {
			told(err)
			<-flying
			settled.Done()
		})
	}
}
