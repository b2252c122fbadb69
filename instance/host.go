package instance

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// Ownership returns partitions and their owners, as this node has applied them.
// Its methods may be called concurrently. Those without a context return at
// once.
type Ownership interface {
	Partition(n int) layout.Partition
	PartitionsDraining() []layout.Partition
	PartitionsChanged() <-chan struct{} // closed at the next change of any partition
	LeaseUntil() time.Time              // the end of this node's lease, by the monotonic clock

	// ReleasePartitions gives up draining partitions. It returns when this node
	// sees that none of them drains at its epoch any more, or when ctx ends.
	ReleasePartitions(ctx context.Context, all []layout.Partition) error

	// KeepPartition cancels a drain that cannot finish, for the given reason.
	// The partition stays with this node. It returns as ReleasePartitions does.
	KeepPartition(ctx context.Context, p layout.Partition, why string) error
}

// Options configure a Host.
type Options struct {
	Node        string // this node's name
	Incarnation string // the incarnation under which this node owns partitions
	Service     agent.Service
	Ownership   Ownership
	Handlers    map[string]GoHandler  // Go handlers by the name that managers use
	Remote      layout.RemoteHandlers // handles turns for which Handlers lacks the handler; may be nil
	Webhooks    Webhooks
	// Storage returns the store of a manager's instances; nil means the
	// cluster, as does a nil Storage. Another store ignores fences, so only
	// revs and revisions prevent conflicting writes there.
	Storage  func(scope, manager string) agent.Service
	AwakeMax int // awake instances of all managers together; 0 means AwakeMaxDefault
	// ScopeAwakeMax returns how many instances of a scope may be awake in this
	// process; 0 means no limit, as does a nil ScopeAwakeMax. It is called with
	// a lock held: it must be fast, and must not call the Host.
	ScopeAwakeMax func(scope string) uint64
	Logger        hclog.Logger
	Tracer        trace.Tracer // makes a span of each call that an instance handles; nil means none
}

// AwakeMaxDefault is the default maximum of awake instances on a node.
const AwakeMaxDefault = 200_000

// shared is what all parts of a Host share: its options and a mutex. The mutex
// guards the changing fields of all parts and of their instances.
type shared struct {
	o  Options
	mu sync.Mutex
}

// Host runs the instances of the partitions that its node owns, and implements
// agent.Instances for them. Calls for other instances fail with not_owner,
// which names the owner. Outside of Run all calls fail with unavailable.
//
// A Host consists of parts. Each part uses only the parts before it: leases,
// table, store, runner, mailbox.
//
// All methods may be called concurrently.
type Host struct {
	*shared
	leases  *leases
	table   *table
	store   *store
	runner  *runner
	mailbox *mailbox

	draining    map[int]uint64 // :: partition → epoch; guarded by mu
	drainsEnded chan struct{}  // capacity 1: a drain has ended
}

// New makes a host. It does nothing before Run.
func New(o Options) (*Host, error) {
	switch {
	case o.Node == "" || o.Incarnation == "":
		return nil, errors.New("an instance host needs its node's name and incarnation")
	case o.Service == nil || o.Ownership == nil:
		return nil, errors.New("an instance host needs a Service and an Ownership")
	case o.AwakeMax < 0:
		return nil, errors.New("awake_max must not be negative")
	}
	if o.AwakeMax == 0 {
		o.AwakeMax = AwakeMaxDefault
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if err := o.Webhooks.validate(); err != nil {
		return nil, err
	}
	sh := &shared{o: o}
	ls := &leases{shared: sh, leaseRenewed: make(chan struct{}, 1)}
	tb := newTable(sh, ls)
	st := &store{shared: sh, leases: ls, table: tb, requestPrefix: "host-" + strings.ToLower(rand.Text())}
	rn := &runner{shared: sh, table: tb, store: st}
	mb := &mailbox{shared: sh, leases: ls, table: tb, store: st, runner: rn}
	return &Host{
		shared: sh, leases: ls, table: tb, store: st, runner: rn, mailbox: mb,
		draining: map[int]uint64{}, drainsEnded: make(chan struct{}, 1),
	}, nil
}

// Run serves until ctx ends, and then drops all instances as a crash does: call
// Shutdown before. It returns when only abandoned handler calls still run. Call
// it once.
func (h *Host) Run(ctx context.Context) error {
	h.mu.Lock()
	h.leases.runCtx = ctx
	h.mu.Unlock()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return h.leases.watchLease(ctx) })
	g.Go(func() error { return h.mailbox.watchDue(ctx) })
	g.Go(func() error { return h.watchOwnership(ctx) })
	err := g.Wait()
	h.dropAll()
	h.mailbox.workers.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Shutdown refuses new calls and hibernates all instances. It returns when all
// have hibernated or ctx ends; the error has the number of instances that have
// not. The node keeps its partitions: ending its lease frees them.
func (h *Host) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	h.mailbox.shuttingDown = true
	var all []*instance
	for _, held := range h.table.partitions {
		for i := range held.instances {
			all = append(all, i)
		}
	}
	h.mu.Unlock()
	return h.mailbox.hibernateAll(ctx, all, lifecycleShutdown)
}

// dropAll drops all instances and refuses all further calls.
func (h *Host) dropAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mailbox.shuttingDown = true
	for _, held := range h.table.partitions {
		for i := range held.instances {
			h.table.drop(i, errStopping)
		}
	}
	h.table.endWatches()
	if h.leases.endLease != nil {
		h.leases.endLease(errStopping)
	}
}

var errStopping = agent.Errorf(agent.CodeUnavailable, "the node is stopping: use another node")
