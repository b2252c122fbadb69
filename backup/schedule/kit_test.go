package schedule_test

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/backup"
	"dormouse/backup/blob"
	"dormouse/backup/schedule"
	"dormouse/internal/logchain"
)

// memory is a destination in memory.
type memory struct {
	mu      sync.Mutex
	objects map[string][]byte // guarded by mu
	spoil   func(name string, content []byte) []byte
	fail    error
	hang    string // Put of a name that contains it waits until its context ends; "" for none
	silent  string // the call, list, get, read or delete, that waits until its context ends; "" for none
	lost    string // Get of a name that contains it fails; "" for none
}

func (m *memory) Put(ctx context.Context, name string, r io.Reader, size int64) error {
	m.mu.Lock()
	hang := m.hang != "" && strings.Contains(name, m.hang)
	m.mu.Unlock()
	if hang {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	if size != int64(len(content)) {
		return fmt.Errorf("%s has %d bytes, and %d were announced", name, len(content), size)
	}
	if m.spoil != nil {
		content = m.spoil(name, content)
	}
	m.objects[name] = content
	return nil
}

// hangAt makes Put of names that contain a text hang; "" means none.
func (m *memory) hangAt(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hang = text
}

// loseAt makes Get of names that contain a text fail; "" means none.
func (m *memory) loseAt(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost = text
}

// silence makes a call hang; "" means none.
func (m *memory) silence(call string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.silent = call
}

// answer waits until ctx ends if the call is to hang.
func (m *memory) answer(ctx context.Context, call string) error {
	m.mu.Lock()
	silent := m.silent == call
	m.mu.Unlock()
	if silent {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// silentReader is an object whose destination may hang.
type silentReader struct {
	io.Reader
	ctx context.Context //nolint:containedctx // of the object
	m   *memory
}

func (r silentReader) Read(p []byte) (int, error) {
	if err := r.m.answer(r.ctx, "read"); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

func (m *memory) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := m.answer(ctx, "get"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lost != "" && strings.Contains(name, m.lost) {
		return nil, errors.New("the bucket does not answer")
	}
	content, ok := m.objects[name]
	if !ok {
		return nil, blob.ErrNotFound
	}
	return io.NopCloser(silentReader{strings.NewReader(string(content)), ctx, m}), nil
}

func (m *memory) List(ctx context.Context, prefix string) (all []blob.Object, err error) {
	if err := m.answer(ctx, "list"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, content := range m.objects {
		if strings.HasPrefix(name, prefix) {
			all = append(all, blob.Object{Name: name, Size: int64(len(content))})
		}
	}
	slices.SortFunc(all, func(a, b blob.Object) int { return strings.Compare(a.Name, b.Name) })
	return all, m.fail
}

func (*memory) Dirs(context.Context) ([]string, error) { return []string{"c-1"}, nil }

func (m *memory) Delete(ctx context.Context, name string) error {
	if err := m.answer(ctx, "delete"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, name)
	return nil
}

func (*memory) Close() error { return nil }

func (m *memory) names() (all []string) {
	list, _ := m.List(context.Background(), "") // the names, also while calls fail
	for _, o := range list {
		all = append(all, o.Name)
	}
	return all
}

// cluster is a log and the state after it, which all nodes share.
type cluster struct {
	*memory
	mu      sync.Mutex
	log     []backup.Entry // guarded by mu; entry i+1 at position i
	chains  []uint32       // guarded by mu
	floor   uint64         // guarded by mu; entries up to it were compacted
	leader  string         // guarded by mu
	full    bool           // guarded by mu; the nodes' disks have no room to restore a state
	changed chan struct{}  // guarded by mu
}

func newCluster() *cluster {
	return &cluster{memory: &memory{objects: map[string][]byte{}}, changed: make(chan struct{})}
}

// write adds n entries with the time now.
func (c *cluster) write(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range n {
		raw := append([]byte{0xd0, 0x5e, 1, 0, 0, 0, 0, 0}, binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixMilli()))...)
		binary.LittleEndian.PutUint32(raw[4:], logchain.Sum(raw))
		e := backup.Entry{Index: uint64(len(c.log) + 1), Term: 1, Data: raw}
		chain := uint32(0)
		if n := len(c.chains); n > 0 {
			chain = c.chains[n-1]
		}
		c.log, c.chains = append(c.log, e), append(c.chains, logchain.Next(chain, e.Index, e.Term, logchain.Sum(raw)))
	}
}

// fill makes the disks of the nodes full, or gives them room again.
func (c *cluster) fill(full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = full
}

// compact removes the first entries of the log.
func (c *cluster) compact(floor uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.floor = floor
}

func (c *cluster) lead(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leader = node
	close(c.changed)
	c.changed = make(chan struct{})
}

// Source.

type cut struct {
	index  uint64
	chain  uint32
	broken error
}

func (c cut) text() string { return fmt.Sprintf("state %d", c.index) }

func (c cut) Describe(m *backup.Manifest) {
	m.Index, m.Term, m.Chain, m.Time, m.StateBytes = c.index, 1, c.chain, time.Now().UnixMilli(), int64(len(c.text()))
}
func (c cut) StateHash(context.Context) (string, error) { return hashOf(c.text()), nil }
func (c cut) Write(w io.Writer) error {
	_, err := io.WriteString(w, c.text())
	return errors.Join(err, c.broken)
}
func (cut) Close() error { return nil }

func hashOf(state string) string { return fmt.Sprintf("%064x", state) }

func (c *cluster) Cut() (schedule.Cut, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.log) == 0 {
		return cut{}, nil
	}
	return cut{index: uint64(len(c.log)), chain: c.chains[len(c.chains)-1]}, nil
}

func (c *cluster) Entries(after uint64, use func(backup.Entry, int64) bool) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ; after < uint64(len(c.log)); after++ {
		if after < c.floor {
			return after, schedule.ErrCompacted
		}
		e := c.log[after]
		if !use(e, int64(binary.BigEndian.Uint64(e.Data[8:]))) {
			return after + 1, nil
		}
	}
	return after, nil
}

func (c *cluster) ChainAt(index uint64) (uint32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if index == 0 || index > uint64(len(c.chains)) {
		return 0, false
	}
	return c.chains[index-1], true
}

func (c *cluster) Rehearse(_ context.Context, stream io.Reader, _ int64) (string, error) {
	c.mu.Lock()
	full := c.full
	c.mu.Unlock()
	if full {
		return "", fmt.Errorf("restore: %w", schedule.ErrNoRoom)
	}
	raw, err := io.ReadAll(stream)
	return hashOf(string(raw)), err
}

// member is one node of a cluster.
type member struct {
	*cluster
	node string
}

func (m member) IsLeader() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.leader == m.node
}

func (m member) LeaderChanged() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

var key = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

func trusted() []ed25519.PublicKey {
	return []ed25519.PublicKey{key.Public().(ed25519.PublicKey)}
}

// run runs a node of c until the test ends.
func (c *cluster) run(t *testing.T, node string, change ...func(o *schedule.Options)) *schedule.Runner {
	t.Helper()
	o := schedule.Options{
		Node: node, URL: "memory", ClusterID: func() string { return "c-1" }, Open: func(context.Context) (blob.Store, error) { return c.memory, nil },
		Source: c, Leader: member{c, node}, Key: key, Trusted: trusted(),
		Due: func(last time.Time) time.Time {
			if last.IsZero() {
				return last
			}
			return last.Add(time.Hour)
		},
		Retention: backup.Retention{Last: 2, Log: 90 * time.Minute}, LogEvery: 10 * time.Second, LogBytes: 1 << 20,
	}
	for _, f := range change {
		f(&o)
	}
	r := schedule.New(o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return r
}

// ledBefore writes five entries while a node leads for a minute. The node has stopped when it returns,
// so that it sees nothing of what comes.
func (c *cluster) ledBefore(t *testing.T, node string) {
	t.Helper()
	c.write(5)
	c.run(t, node)
	c.lead(node)
	time.Sleep(time.Minute)
	c.lead("")
	synctest.Wait()
}

func (c *cluster) catalog() *backup.Catalog {
	return &backup.Catalog{Store: c.memory, Cluster: "c-1", Trust: backup.Trust{Keys: trusted()}}
}

func (c *cluster) contents(t *testing.T) backup.Contents {
	t.Helper()
	all, err := c.catalog().List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}
