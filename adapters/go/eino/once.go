package eino

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"dormouse/sdk/go/agent"
)

// requestTTL is how long a write whose outcome is not known can be sent again.
const requestTTL = time.Hour

// version identifies one write of a checkpoint; the zero version means that there is none.
type version struct{ incarnation, revision uint64 }

// write is one write of a run, under a request id: sent again, it is applied at most once.
type write struct {
	request agent.Request
	op      agent.Op
}

func newWrite(op agent.Op) write {
	return write{agent.Request{Client: "eino/" + rand.Text(), Seq: 1, TTL: requestTTL}, op}
}

// once is what a run has seen.
type once struct {
	mu        sync.Mutex
	versions  map[string]version // by key, as the run last read or wrote it
	undecided map[string]write   // by key: the last write, if its outcome is not known
}

type onceKey struct{}

// Once returns a context for one run, from its start or from where it resumes. If two
// processes resume the same checkpoint in contexts of their own, the first that writes or
// deletes it wins, and the other gets ErrChanged. In a context without Once the last
// write stays, as in other stores.
func Once(ctx context.Context) context.Context {
	return context.WithValue(ctx, onceKey{}, &once{versions: make(map[string]version), undecided: make(map[string]write)})
}

// onceOf returns what the run of ctx has seen; nil without Once.
func onceOf(ctx context.Context) *once {
	o, _ := ctx.Value(onceKey{}).(*once)
	return o
}

// saw notes a version that the run read, or that a write of it left.
func (o *once) saw(key string, v version) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.versions[key] = v
}

func (o *once) seen(key string) (version, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	v, ok := o.versions[key]
	return v, ok
}

// unsettled returns the last write of a key, if its outcome is not known.
func (o *once) unsettled(key string) (write, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w, ok := o.undecided[key]
	return w, ok
}

// note keeps a write that was sent if err leaves its outcome open, and forgets it if err decides it. A
// write that is refused before it is judged stays as it was.
func (o *once) note(key string, w write, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch code := agent.CodeOf(err); {
	case err == nil, mismatches(code), code == agent.CodeRequestExpired: // expired: it cannot be asked again
		delete(o.undecided, key)
	case agent.OutcomeOf(err) == agent.Undecided:
		o.undecided[key] = w
	}
}
