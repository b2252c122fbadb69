package schedule

import (
	"context"
	"crypto/ed25519"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/backup"
	"dormouse/backup/blob"
	"dormouse/internal/leading"
	"dormouse/internal/pause"
	"dormouse/internal/retry"
)

// Cut is the whole state at one entry.
type Cut interface {
	// Describe fills in what the manifest says of the state.
	Describe(m *backup.Manifest)
	StateHash(ctx context.Context) (string, error)
	Write(w io.Writer) error
	Close() error
}

// Source is the state machine and the log of this node.
type Source interface {
	// Cut returns the state at an entry no older than the call.
	Cut() (Cut, error)

	// Entries calls use with the committed entries after an index, and the wall times of their
	// stamps, until use returns false. It returns the index up to which it has read. The error wraps
	// ErrCompacted if the log lacks the first entry.
	Entries(after uint64, use func(e backup.Entry, time int64) bool) (uint64, error)

	// ChainAt returns the chain of the state at one of the newest entries; false if it is not known.
	ChainAt(index uint64) (uint32, bool)

	// Rehearse restores a snapshot stream of about that size apart from the node, and returns the
	// hash of its state. The error wraps ErrNoRoom if the node's disk has no room for that.
	Rehearse(ctx context.Context, stream io.Reader, bytes int64) (stateHash string, err error)
}

// Options configure a Runner. All but Warning and Logger are required.
type Options struct {
	Node       string
	Version    string
	URL        string // of the destination, for people
	ClusterID  func() string
	Open       func(ctx context.Context) (blob.Store, error)
	Warning    func() string // returns a warning about the destination, or ""; called once it is open; may be nil
	Source     Source
	Leader     leading.Leader
	Key        ed25519.PrivateKey  // signs
	Trusted    []ed25519.PublicKey // whose backups count
	Recipients backup.Recipients
	Due        func(last time.Time) time.Time // when the backup after one that began at last is due; last is zero before the first
	Retention  backup.Retention
	LogEvery   time.Duration // entries are shipped this long after they were written; 0 ships none
	LogBytes   int64         // …or once there are so many bytes
	Logger     hclog.Logger  // nil is silent
}

// The pauses between attempts after a failure.
const (
	retryFirst = 5 * time.Second
	retryMax   = 10 * time.Minute
	// unfinishedMax is how long a backup may take: an older one without a manifest is removed.
	unfinishedMax = 24 * time.Hour
	// stalledMax is how long a backup may make no progress, and shipTimeout how long a segment may
	// take. A destination that hangs must not keep the next attempt waiting: see also answerMax.
	stalledMax  = 30 * time.Minute
	shipTimeout = 2 * time.Minute
)

// Runner takes backups and ships the log. Its methods may be called concurrently.
type Runner struct {
	o       Options
	metrics *metrics

	wanted chan struct{} // capacity one: the shipper needs a backup

	mu      sync.Mutex
	status  layout.BackupStatus // guarded by mu
	catalog *backup.Catalog     // nil while this node does not lead; guarded by mu
	term    context.Context     //nolint:containedctx // ends when this node no longer leads; guarded by mu
	taking  bool                // a backup is under way; guarded by mu
	overdue time.Time           // the second time of the schedule after the newest backup; zero if it is not known; guarded by mu
	warned  bool                // the warning about the destination was logged; guarded by mu
	takes   sync.WaitGroup      // the backup under way; a new one begins only while catalog is set
}

// New returns a Runner. It does nothing before Run.
func New(o Options) *Runner {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	public, _ := o.Key.Public().(ed25519.PublicKey) // it always is
	return &Runner{
		o: o, metrics: newMetrics(), wanted: make(chan struct{}, 1),
		status: layout.BackupStatus{URL: o.URL, Node: o.Node, PublicKey: backup.EncodeKey(public), Encrypted: !o.Recipients.None(), ShipsLog: o.LogEvery > 0},
	}
}

// Run works while this node leads, until ctx ends. It returns nil.
func (r *Runner) Run(ctx context.Context) error {
	leading.Run(ctx, r.o.Leader, r.lead)
	return nil
}

// lead opens the destination, and works until ctx ends.
func (r *Runner) lead(ctx context.Context) {
	attempts := retry.New(retryFirst, retryMax)
	for ctx.Err() == nil {
		store, err := r.o.Open(ctx)
		if err != nil {
			r.failed("open the destination of the backups", err)
			attempts.Wait(ctx)
			continue
		}
		r.warn()
		r.setCatalog(ctx, &backup.Catalog{Store: answering{store}, Cluster: r.o.ClusterID(), Trust: backup.Trust{Keys: r.o.Trusted}})
		var parts sync.WaitGroup
		parts.Go(func() { r.takeDue(ctx) })
		if r.o.LogEvery > 0 {
			parts.Go(func() { r.ship(ctx) })
		}
		parts.Wait()
		r.setCatalog(ctx, nil)
		r.takes.Wait()
		if err := store.Close(); err != nil {
			r.o.Logger.Warn("close the destination of the backups", "error", err)
		}
	}
}

// warn tells the warning about the destination: in the status until something fails, and in the log once.
func (r *Runner) warn() {
	if r.o.Warning == nil {
		return
	}
	text := r.o.Warning()
	if text == "" {
		return
	}
	r.mu.Lock()
	if r.status.LastError == "" {
		r.status.LastError = text
	}
	first := !r.warned
	r.warned = true
	r.mu.Unlock()
	if first {
		r.o.Logger.Warn("look at the destination of the backups", "url", r.o.URL, "why", text)
	}
}

func (r *Runner) setCatalog(term context.Context, c *backup.Catalog) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.catalog, r.term = c, term
	r.status.Next, r.status.Phase, r.overdue = 0, "", time.Time{}
}

// current returns the catalog of the destination. The error has code unavailable if this node does
// not lead.
func (r *Runner) current() (*backup.Catalog, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.catalog == nil {
		return nil, agent.Errorf(agent.CodeUnavailable, "this node takes no backups now: it does not lead, or cannot open %s", r.o.URL)
	}
	return r.catalog, nil
}

// takeDue takes the backups of the schedule, and those that the shipper needs.
func (r *Runner) takeDue(ctx context.Context) {
	attempts := retry.New(retryFirst, retryMax)
	for ctx.Err() == nil {
		last, err := r.lastBegan(ctx)
		if err != nil {
			r.failed("list the backups", err)
			attempts.Wait(ctx)
			continue
		}
		due := r.o.Due(last)
		r.scheduled(due)
		needed, ok := r.await(ctx, due)
		if !ok {
			return
		}
		switch stored, err := r.Take(ctx, nil); {
		case err == nil, stored.Name != "": // without its verification too: the next one may find room
			attempts.Reset()
		case agent.CodeOf(err) == agent.CodeConflict: // one is under way, and may fail
			if pause.For(ctx, retryFirst) && needed {
				r.want()
			}
		default:
			if attempts.Wait(ctx) && needed { // what was due still is, by the list of backups
				r.want()
			}
		}
	}
}

// scheduled records when the next backup is due. The first one is due at once, and none is overdue before it.
func (r *Runner) scheduled(due time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if due.IsZero() {
		r.status.Next = time.Now().UnixMilli()
		return
	}
	r.status.Next = due.UnixMilli()
	r.overdue = r.o.Due(due)
}

// await waits until a backup is due, or needed by the shipper. It returns false if ctx has ended.
func (r *Runner) await(ctx context.Context, due time.Time) (needed, ok bool) {
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-r.wanted:
		needed = true
	case <-timer.C:
		select {
		case <-r.wanted: // one backup serves both
			needed = true
		default:
		}
	case <-ctx.Done():
	}
	return needed, ctx.Err() == nil
}

// want makes takeDue take a backup now.
func (r *Runner) want() {
	select {
	case r.wanted <- struct{}{}:
	default:
	}
}

// clockSkewMax is how far the clocks of two nodes may differ. A backup that began later than that from
// now is of a node whose clock was wrong: the schedule does not count it, or it would stop until then.
const clockSkewMax = 5 * time.Minute

// lastBegan returns when the newest backup at the destination began; zero if there is none.
func (r *Runner) lastBegan(ctx context.Context) (time.Time, error) {
	c, err := r.current()
	if err != nil {
		return time.Time{}, err
	}
	all, err := c.ListBackups(ctx)
	if err != nil {
		return time.Time{}, err
	}
	var last time.Time
	for _, m := range all.Backups {
		at := time.UnixMilli(m.StartedAt)
		if time.Until(at) > clockSkewMax {
			r.o.Logger.Warn("the schedule ignores a backup from the future", "backup", m.Name, "node", m.Node, "started", at.UTC())
		} else if at.After(last) {
			last = at
		}
	}
	for _, m := range slices.Backward(all.Backups) {
		if m.VerifiedAt > 0 {
			r.succeeded(m)
			break
		}
	}
	return last, nil
}

func (r *Runner) update(change func(s *layout.BackupStatus)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.status)
}

// failed records a failure.
func (r *Runner) failed(what string, err error) {
	r.metrics.failures.Inc()
	r.o.Logger.Error("cannot "+what, "error", err)
	r.update(func(s *layout.BackupStatus) {
		s.LastError, s.LastErrorAt = what+": "+err.Error(), time.Now().UnixMilli()
	})
}

// succeeded records a verified backup.
func (r *Runner) succeeded(m backup.Manifest) {
	r.update(func(s *layout.BackupStatus) {
		if m.Name >= s.LastName { // the time may be of a node whose clock was wrong
			s.LastSuccessAt, s.LastName, s.LastIndex = m.VerifiedAt, m.Name, m.Index
		}
	})
}

// Status returns the status of this node's backups; Leads is false if another node takes them.
func (r *Runner) Status() layout.BackupStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.status
	s.Leads = r.catalog != nil
	return s
}

// List returns the whole backups at the destination, the oldest first.
func (r *Runner) List(ctx context.Context) (layout.Backups, error) {
	c, err := r.current()
	if err != nil {
		return layout.Backups{}, err
	}
	all, err := c.List(ctx)
	if err != nil {
		return layout.Backups{}, agent.Errorf(agent.CodeUnavailable, "list the backups: %v", err)
	}
	out := layout.Backups{Status: r.Status(), Segments: len(all.Segments), StoredBytes: all.Stored, Unfinished: len(all.Unfinished)}
	for _, m := range all.Backups {
		out.Backups = append(out.Backups, Describe(m))
	}
	for name, why := range all.Damages {
		out.Damages = append(out.Damages, name+": "+why.Error())
	}
	for name, why := range all.Foreign {
		out.Damages = append(out.Damages, name+": "+why.Error()+": it is not removed, unless backup.trusted_keys has this key")
	}
	slices.Sort(out.Damages)
	return out, nil
}

// Describe returns what operators see of a manifest.
func Describe(m backup.Manifest) layout.BackupInfo {
	return layout.BackupInfo{
		Name: m.Name, Node: m.Node, Index: m.Index, Term: m.Term, Time: m.Time, StateBytes: m.StateBytes, Bytes: m.Bytes,
		Encrypted: m.Encrypted, StateHash: m.StateHash, StartedAt: m.StartedAt, VerifiedAt: m.VerifiedAt, Key: m.Key,
	}
}
