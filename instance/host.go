package instance

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"dormouse/agent"
)

// Ownership tells who owns what, as this node has applied it. Its methods may be
// called concurrently; those without a context cost next to nothing.
type Ownership interface {
	Partition(n int) agent.Partition
	PartitionsDraining() []agent.Partition
	PartitionsChanged() <-chan struct{} // closed at the next change of any partition
	LeaseUntil() time.Time              // this node may serve until then, by the monotonic clock

	// ReleasePartitions gives up partitions that drain. It goes on until none of
	// them drains at its epoch any more, as far as this node sees, or ctx ends.
	ReleasePartitions(ctx context.Context, all []agent.Partition) error

	// KeepPartition ends a drain that cannot be finished, for the reason given:
	// the partition stays with this node. It returns as ReleasePartitions does.
	KeepPartition(ctx context.Context, p agent.Partition, why string) error
}

// Options is what a Host is made of.
type Options struct {
	Node        string // this node's name
	Incarnation string // …and incarnation, as it owns partitions under
	Service     agent.Service
	Ownership   Ownership
	Handlers    map[string]GoHandler // what managers of kind HandlerGo may name
	Remote      agent.RemoteHandlers // …who is asked where those lack one; nil for nobody
	Webhooks    Webhooks
	// Storage is where a manager's instances are stored other than in the
	// cluster; nil, for all or for one, means there. Fences mean nothing to
	// another store: there revs and revisions alone keep writers apart.
	Storage  func(scope, manager string) agent.Service
	AwakeMax int // instances awake at once, over all managers; 0 means AwakeMaxDefault
	Logger   hclog.Logger
}

// AwakeMaxDefault is how many instances are awake on a node at once, where
// Options do not say.
const AwakeMaxDefault = 200_000

// Host keeps the instances of the partitions that its node owns, and implements
// agent.Instances for them. Others' are refused with not_owner, which names the
// owner. Before Run and after it all is unavailable.
//
// All methods may be called concurrently.
type Host struct {
	o             Options
	startedAt     time.Time
	requestPrefix string // begins the clients of this host's own requests; never used twice

	runs         atomic.Uint64  // awakenings so far
	hungHandlers atomic.Int64   // calls of handlers that hang
	workers      sync.WaitGroup // one an instance that has work

	mu              sync.Mutex
	runCtx          context.Context //nolint:containedctx // Run's; nil outside of it
	leaseCtx        context.Context //nolint:containedctx // ends when the lease lapses
	endLease        context.CancelCauseFunc
	shuttingDown    bool
	managers        map[managerID]*managerState // :: scope and manager
	partitions      map[int]*partitionInstances // :: partition, those that have instances
	draining        map[int]uint64              // :: partition → epoch, those being drained
	watchers        map[managerID][]*watcher
	watcherCount    int // watchers of all
	due             dueQueue
	counters        counters // of all families, those of before too
	sweepAt         int      // so many families are looked through for those that are idle
	inMemory        int      // instances in memory
	backgroundSaves int      // hibernations under way that nobody waits for

	leaseRenewed chan struct{} // of one: leased is new
	drainsEnded  chan struct{} // of one: drains are over
	earlierDue   chan struct{} // of one: due has a new first
}

// New makes a host. It does nothing until Run.
func New(o Options) (*Host, error) {
	switch {
	case o.Node == "" || o.Incarnation == "":
		return nil, errors.New("an instance host needs its node's name and incarnation")
	case o.Service == nil || o.Ownership == nil:
		return nil, errors.New("an instance host needs a service and a ground")
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
	return &Host{
		o: o, startedAt: time.Now(), requestPrefix: "host-" + strings.ToLower(rand.Text()),
		managers: map[managerID]*managerState{}, partitions: map[int]*partitionInstances{}, draining: map[int]uint64{}, watchers: map[managerID][]*watcher{},
		leaseRenewed: make(chan struct{}, 1), drainsEnded: make(chan struct{}, 1), earlierDue: make(chan struct{}, 1),
	}, nil
}

// Run serves until ctx ends. What is awake then is dropped as in a crash: call
// Shutdown first. It returns once nothing of the host is left running but
// handlers that hang. Call it once.
func (h *Host) Run(ctx context.Context) error {
	h.mu.Lock()
	h.runCtx = ctx
	h.mu.Unlock()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return h.watchLease(ctx) })
	g.Go(func() error { return h.watchDue(ctx) })
	g.Go(func() error { return h.watchOwnership(ctx) })
	err := g.Wait()
	h.dropAll()
	h.workers.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// now is the host's own monotonic time.
func (h *Host) now() time.Duration { return time.Since(h.startedAt) }

// Shutdown starts no more instances and hibernates those awake. It returns once
// all sleep, or with how many could not, or when ctx ends. The partitions stay
// owned: ending the node's lease frees them all.
func (h *Host) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	h.shuttingDown = true
	var all []*instance
	for _, held := range h.partitions {
		for i := range held.instances {
			all = append(all, i)
		}
	}
	h.mu.Unlock()
	return h.hibernateAll(ctx, all, lifecycleShutdown)
}

// dropAll forgets all instances and refuses all calls from now on.
func (h *Host) dropAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shuttingDown = true
	for _, held := range h.partitions {
		for i := range held.instances {
			h.drop(i, errStopping)
		}
	}
	h.endWatches()
	if h.endLease != nil {
		h.endLease(errStopping)
	}
}

var errStopping = agent.Errorf(agent.CodeUnavailable, "the node is stopping: ask another")
