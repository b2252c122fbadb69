package sim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"dormouse/config"
	"dormouse/internal/pause"
	"dormouse/jepsen/history"
	"dormouse/jepsen/sim/simdisk"
	"dormouse/jepsen/sim/simnet"
	"dormouse/node"
)

// host is a machine of the cluster: a disk, and at most one process.
type host struct {
	cluster *Cluster
	name    string // never changes
	ip      string
	knobs   Knobs

	mu      sync.Mutex
	id      string        // guarded by mu; the node's
	disk    *simdisk.Disk // guarded by mu; changes at a crash
	process *process      // guarded by mu; nil if none runs
	down    int           // guarded by mu; how many faults keep it down
	news    chan struct{} // guarded by mu; closed and replaced when down changes
	founds  bool          // guarded by mu; its node may found the cluster
	left    bool          // guarded by mu; its node has left for good
	mayExit int           // guarded by mu; how many faults may end its process
	ahead   time.Duration // guarded by mu; how far its wall clock is
}

// process is one run of a node.
type process struct {
	number uint32 // of the goroutines that belong to it
	net    *simnet.Host
	ended  chan error    // capacity one
	killed chan struct{} // closed by kill
	gone   chan struct{} // closed once it has stopped as asked
	asked  bool          // guarded by the host's mu; it is to stop
	failed error         // why it did not stop as asked; written before gone is closed
	stop   context.CancelFunc

	mu   sync.Mutex
	node *node.Node // guarded by mu; nil until it is open
}

func (p *process) opened() *node.Node {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.node
}

// restartAfter is how long a supervisor waits before it starts a process again that has
// ended by itself.
const restartAfter = time.Second

// supervise keeps a process running, unless a fault keeps it down, until ctx ends.
func (h *host) supervise(ctx context.Context) {
	for ctx.Err() == nil {
		h.mu.Lock()
		down, news := h.down > 0 || h.left, h.news
		h.mu.Unlock()
		if down {
			select {
			case <-news:
			case <-ctx.Done():
			}
			continue
		}
		p := h.start()
		select {
		case err := <-p.ended:
			if h.exited(p, err) {
				pause.For(ctx, restartAfter)
			}
		case <-p.killed:
		case <-ctx.Done():
		}
	}
}

// start starts a process.
func (h *host) start() *process {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &process{number: h.cluster.number(), net: h.cluster.net.Host(h.name, h.ip), ended: make(chan error, 1), killed: make(chan struct{}), gone: make(chan struct{})}
	h.process = p
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	id, disk := h.id, h.disk
	options := h.options(p, id, disk)
	disk.OnFailure(func(err error) {
		select {
		case p.ended <- err:
		default: // it has ended
		}
	})
	h.cluster.trace.Note("start", h.name)
	pauseProcess(p.number, false) // an earlier process may have had its number
	setClock(p.number, int64(h.ahead))
	go func() {
		enterProcess(p.number)
		p.ended <- p.run(ctx, options, h.ip+gossipPort)
	}()
	return p
}

// run runs a node until ctx ends or it fails.
func (p *process) run(ctx context.Context, o node.Options, gossip string) error {
	talk, err := p.net.Gossip(gossip)
	if err != nil {
		return err
	}
	o.Gossip = talk
	n, err := node.Open(context.Background(), o)
	if err != nil {
		return errors.Join(err, talk.Shutdown())
	}
	p.mu.Lock()
	p.node = n
	p.mu.Unlock()
	return n.Run(ctx)
}

// exited records that a process has ended, and reports whether that was not asked for.
func (h *host) exited(p *process, err error) bool {
	h.mu.Lock()
	if h.process == p {
		h.process = nil
		h.disk = h.disk.Crash(100) // what still runs of it must not reach the disk
	}
	asked := p.asked
	h.mu.Unlock()
	h.cluster.met(p.opened())
	p.stop()
	p.net.Kill(false) // the kernel closes what is open
	if asked {
		p.failed = err
		close(p.gone)
		h.cluster.trace.Note("stopped", h.name)
		return false
	}
	h.cluster.trace.Note("exit", h.name)
	h.cluster.count("exits", 1)
	h.cluster.event(history.Event{Kind: history.EventExit, Node: h.name, Detail: fmt.Sprint(err)})
	return true
}

// halt asks the process to stop, as SIGTERM does, and waits until it has. The host stays
// down until rise. orderly reports whether the process ran and stopped without an error.
func (h *host) halt(ctx context.Context) (orderly bool) {
	h.mu.Lock()
	h.down++
	p := h.process
	if p == nil {
		h.mu.Unlock()
		return false
	}
	p.asked = true
	h.mu.Unlock()
	p.stop()
	select {
	case <-p.gone:
		return p.failed == nil
	case <-p.killed:
	case <-ctx.Done():
	}
	return false
}

// kill ends the process as kill -9 does, or with percent below 100 as a power failure,
// which loses or tears part of what was not synced. The host stays down until rise.
func (h *host) kill(percent int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down++
	p := h.process
	if p == nil {
		return
	}
	h.process = nil
	h.cluster.met(p.opened())
	h.cluster.trace.Note("kill", h.name, uint64(percent))
	h.cluster.count("kills", 1)
	p.net.Kill(percent < 100)
	h.disk = h.disk.Crash(percent)
	p.stop()
	pauseProcess(p.number, false) // so that what is left of it ends
	close(p.killed)
}

// setClock sets how far the host's wall clock is ahead.
func (h *host) setClock(ahead time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ahead = ahead
	if h.process != nil {
		setClock(h.process.number, int64(ahead))
	}
	h.cluster.trace.Note("clock", h.name, uint64(ahead))
}

// pause pauses the host's process, if one runs. resume lets it go on.
func (h *host) pause() (resume func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.process
	if p == nil {
		return func() {}
	}
	h.cluster.trace.Note("pause", h.name)
	pauseProcess(p.number, true)
	return func() { pauseProcess(p.number, false) }
}

// rise lets the host run again, once each fault that keeps it down has ended.
func (h *host) rise() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down--
	close(h.news)
	h.news = make(chan struct{})
}

// wipe gives the host an empty disk. It must be down.
func (h *host) wipe(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.disk = simdisk.New(h.name, h.cluster.fork(), h.cluster.trace, h.speed())
	h.id, h.founds, h.left = id, false, false
}

func (h *host) speed() simdisk.Speed {
	if !h.cluster.seeded {
		return simdisk.Speed{}
	}
	return simdisk.Speed{Sync: h.knobs.Sync}
}

// node returns the running node, or nil.
func (h *host) node() *node.Node {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.process.opened()
}

func (h *host) nodeID() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.id
}

func (h *host) currentDisk() *simdisk.Disk {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.disk
}

const (
	// gossipPort is the port of gossip, of the host's IP.
	gossipPort = ":7603"
	// httpPort is the port of HTTP: a URL takes no name for a port.
	httpPort = ":7600"
)

// options returns the options of a new process. The caller holds mu.
func (h *host) options(p *process, id string, disk *simdisk.Disk) node.Options {
	c := config.Default()
	c.Node.ID, c.Node.Ephemeral, c.Node.StopTimeout = id, true, 2*time.Second
	c.Raft.Addr, c.Raft.Advertise = h.name+":raft", h.name+":raft"
	c.HTTP.Addr, c.HTTP.Advertise = h.name+httpPort, h.name+httpPort
	c.GRPC.Addr, c.GRPC.Advertise = h.name+":grpc", h.name+":grpc"
	c.Gossip.Addr, c.Gossip.Advertise = h.ip+gossipPort, h.ip+gossipPort
	c.Auth.Mode, c.Tracing.Sample, c.Log.SlowCall = config.AuthOff, 0, 0
	c.Cluster.Bootstrap, c.Cluster.Timing = h.founds, h.knobs.Timing
	c.Placement.Lease = h.cluster.lease
	c.Storage.CacheBytes, c.Storage.Memory = h.knobs.CacheBytes, "512MiB" // alike on each machine
	c.Raft.SnapshotBytes, c.Raft.SnapshotEntries = h.knobs.SnapshotBytes, h.knobs.SnapshotEntries
	c.Raft.LeaderWrite, c.Raft.Decide = h.knobs.LeaderWrite, h.knobs.Decide
	c.Raft.TrailingBytes, c.Raft.TrailingEntries = h.knobs.TrailingBytes, h.knobs.TrailingEntries
	c.Redis = h.cluster.redisOf(h.name)
	for _, other := range h.cluster.hosts {
		if other != h && !h.founds {
			c.Cluster.Join = append(c.Cluster.Join, other.name+":raft")
		}
	}
	return node.Options{
		Config: c, Keys: h.cluster.keys, Network: p.net, Servers: p.net, FS: disk.State(), LogFiles: disk.Log(),
		Logger: h.cluster.log.With("host", h.name), LogSegmentBytes: h.knobs.SegmentBytes,
	}
}
