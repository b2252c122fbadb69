package eino

import (
	"context"
	"sync"
)

// version identifies one write of a checkpoint; the zero version means that there is none.
type version struct{ incarnation, revision uint64 }

// once is what a run has seen. The methods of a nil *once do nothing.
type once struct {
	mu       sync.Mutex
	versions map[string]version // by key, as the run last read or wrote it
}

type onceKey struct{}

// Once returns a context for one run, from its start or from where it resumes. If two
// processes resume the same checkpoint in contexts of their own, the first that writes or
// deletes it wins, and the other gets ErrChanged. In a context without Once the last
// write stays, as in other stores.
func Once(ctx context.Context) context.Context {
	return context.WithValue(ctx, onceKey{}, &once{versions: make(map[string]version)})
}

func onceOf(ctx context.Context) *once {
	o, _ := ctx.Value(onceKey{}).(*once)
	return o
}

func (o *once) saw(key string, v version) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.versions[key] = v
}

func (o *once) seen(key string) (version, bool) {
	if o == nil {
		return version{}, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	v, ok := o.versions[key]
	return v, ok
}
