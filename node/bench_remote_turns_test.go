package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/config"
	"dormouse/host"
	"dormouse/instance"
	"dormouse/node"
	"dormouse/placement"
)

// BenchmarkRemoteTurn measures a turn whose Go handler is in the process that
// owns the instance (able), and one whose handler is in another process
// (lacking), over loopback TCP. Both are hosts of one node without a disk. It
// varies the size of the state. Each turn changes the state and appends an
// entry. CPU is that of the whole process.
func BenchmarkRemoteTurn(b *testing.B) {
	w := openRemoteTurnHosts(b)
	for _, size := range []int{64, 4 << 10, 64 << 10} {
		for _, callers := range []int{1, 64} {
			for _, owner := range []string{"able", "lacking"} {
				b.Run(fmt.Sprintf("state=%d/callers=%d/%s", size, callers, owner), func(b *testing.B) { w.turns(b, owner, size, callers) })
			}
		}
	}
}

// remoteTurnHosts are two hosts that each own half of the partitions. One lacks the handler.
type remoteTurnHosts struct {
	hosts map[string]*host.Host
	calls int // number of turns
}

// parsingHandler is a Go handler that keeps its state in memory, and parses it on a restore.
type parsingHandler struct {
	kept struct {
		N    int    `json:"n"`
		Text string `json:"text"`
	}
}

func (l *parsingHandler) Restore(state agent.JSON) error  { return json.Unmarshal(state, &l.kept) }
func (l *parsingHandler) Checkpoint() (agent.JSON, error) { return json.Marshal(l.kept) }
func (l *parsingHandler) Handle(_ context.Context, t *instance.Turn) error {
	l.kept.N++
	t.Append(agent.Draft{Kind: "count", Payload: t.Data()})
	return t.Reply(agent.JSON(fmt.Sprintf(`{"n":%d}`, l.kept.N)))
}

func openRemoteTurnHosts(b *testing.B) *remoteTurnHosts {
	b.Helper()
	c := config.Default()
	c.Auth.Mode = config.AuthOff
	c.Node.ID, c.Node.Dev, c.Node.Ephemeral, c.Cluster.Bootstrap = "n1", true, true, true
	c.HTTP.Addr, c.GRPC.Addr, c.Raft.Addr, c.Gossip.Addr = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	n, err := node.Open(b.Context(), node.Options{Config: c, Alone: true, Logger: hclog.NewNullLogger()})
	if err != nil {
		b.Fatal(err)
	}
	background(b, n.Run)
	for n.Ready() != nil || n.Machine().FeatureLevel() < layout.RemoteTurnsLevel { // below it these hosts are incompatible
		time.Sleep(10 * time.Millisecond)
	}
	w := &remoteTurnHosts{hosts: map[string]*host.Host{}}
	for name, handler := range map[string]string{"able": "ledger", "lacking": "other"} {
		_, grpcAddr := n.Addrs()
		o := host.Options{Name: name, Join: []string{n.Group().Addr()}, Key: n.HostKey(), LeaseTTL: 2 * time.Second}
		o.Client.Endpoints, o.Client.Fixed = []string{grpcAddr}, true
		o.Instance.Handlers = map[string]instance.GoHandler{handler: {New: func(agent.InstanceRef) instance.Handler { return &parsingHandler{} }}}
		h, err := host.Open(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		background(b, h.Run)
		w.hosts[name] = h
	}
	put := &agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "ledger"}}}
	if _, err := n.Service().Commit(b.Context(), agent.Commit{Ops: []agent.Op{put}}); err != nil {
		b.Fatal(err)
	}
	for len(w.hosts["able"].Owned()) < layout.Partitions*4/10 || len(w.hosts["lacking"].Owned()) < layout.Partitions*4/10 {
		time.Sleep(10 * time.Millisecond)
	}
	return w
}

// background runs a function until the benchmark ends.
func background(b *testing.B, run func(context.Context) error) {
	b.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	b.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
}

// turns runs turns of instances that a host owns, one instance for each caller.
func (w *remoteTurnHosts) turns(b *testing.B, owner string, size, callers int) {
	b.Helper()
	h := w.hosts[owner]
	owned := map[uint32]bool{}
	for _, p := range h.Owned() {
		owned[uint32(p.ID)] = true
	}
	w.calls++
	var refs []agent.InstanceRef
	state := agent.JSON(fmt.Sprintf(`{"n":0,"text":%q}`, strings.Repeat("x", size)))
	for i := 0; len(refs) < callers; i++ {
		ref := agent.InstanceRef{Scope: agent.DefaultScope, Manager: "m", Key: fmt.Sprint("k", w.calls, "-", i)}
		if owned[uint32(placement.Partition(ref.Scope, ref.Manager, ref.Key))] {
			refs = append(refs, ref)
			if _, err := h.Instances().Start(b.Context(), ref, agent.StartInstance{InitialState: state}); err != nil {
				b.Fatal(err)
			}
		}
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	failed := make(chan error, callers)
	b.ReportAllocs()
	b.ResetTimer()
	before := cpuNow()
	for _, ref := range refs {
		go func() {
			for left.Add(-1) >= 0 {
				reply, err := h.Instances().Signal(b.Context(), ref, agent.Signal{Type: "count", Data: agent.JSON(`{"n":1}`)})
				if err == nil && reply.Node != owner {
					err = errors.New("it moved to " + reply.Node)
				}
				if err != nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
	}
	for range refs {
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuNow()-before).Microseconds())/float64(b.N), "cpu-us/op")
}
