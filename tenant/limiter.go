package tenant

import (
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"dormouse/agent"
)

// ScopesMax is how many scopes a Limiter keeps: the ones used last. A scope that it forgets begins
// again with full buckets.
const ScopesMax = 4096

// policyMaxAge is how long a policy is used before it is read again.
const policyMaxAge = time.Second

// Policies returns the policy that applies to a scope.
type Policies func(scope string) agent.Policy

// Limiter decides which calls of a scope are served. Its methods may be called concurrently.
type Limiter struct {
	policies Policies

	mu      sync.Mutex
	scopes  *simplelru.LRU[string, *use] // guarded by mu
	watches map[string]uint64            // :: scope → its watches at this moment; guarded by mu
	gone    Counts                       // of scopes that are not kept any more; guarded by mu
}

// use is what a scope has used lately.
type use struct {
	policy   agent.Policy
	readAt   time.Time // when policy was read
	requests bucket
	bytes    bucket
	counts   Counts
}

// Counts are the requests of a scope since the node started.
type Counts struct {
	Requests uint64 // served
	Refused  uint64 // over a limit
}

// NewLimiter returns a limiter that has seen no requests.
func NewLimiter(policies Policies) *Limiter {
	l := &Limiter{policies: policies, watches: map[string]uint64{}}
	scopes, err := simplelru.NewLRU(ScopesMax, func(_ string, u *use) {
		l.gone.Requests += u.counts.Requests
		l.gone.Refused += u.counts.Refused
	})
	if err != nil {
		panic(err) // only for a size below one
	}
	l.scopes = scopes
	return l
}

// of returns the use of a scope, with a policy that is new enough. Callers hold mu, which it gives
// up while it reads a policy.
func (l *Limiter) of(scope string, now time.Time) *use {
	u, ok := l.scopes.Get(scope)
	if ok && now.Sub(u.readAt) < policyMaxAge {
		return u
	}
	if ok {
		u.readAt = now // others go on with the policy before
	}
	l.mu.Unlock()
	policy := l.policies(scope)
	l.mu.Lock()
	if u, ok = l.scopes.Get(scope); !ok {
		u = &use{}
		l.scopes.Add(scope, u)
	}
	u.policy, u.readAt = policy, now
	return u
}

// Policy returns the policy that applies to a scope, at most policyMaxAge old.
func (l *Limiter) Policy(scope string) agent.Policy {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of(scope, time.Now()).policy
}

// enter begins calls of a scope. It returns an error if the scope has used up a rate. If its bytes
// are limited, bytes is true, and the caller spends what the calls turn out to need.
func (l *Limiter) enter(scope string, calls int) (bytes bool, err error) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(scope, now)
	if err := u.enter(scope, now, calls); err != nil {
		return false, err
	}
	return u.policy.BytesPerSecond > 0, nil
}

// spend charges a scope for the bytes of a call.
func (l *Limiter) spend(scope string, n int) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(scope, now)
	u.bytes.spend(now, u.policy.BytesPerSecond, uint64(max(n, 0)))
}

// watch begins a watch of a scope; the caller calls leave when it ends. A watch that is refused uses
// up no rate, and does not count as served.
func (l *Limiter) watch(scope string) (leave func(), err error) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(scope, now)
	if most := u.policy.WatchesMax; most > 0 && l.watches[scope] >= most {
		return nil, u.refuse(scope, "watches_max", most, time.Second)
	}
	if err := u.enter(scope, now, 1); err != nil {
		return nil, err
	}
	l.watches[scope]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.watches[scope]--; l.watches[scope] == 0 {
			delete(l.watches, scope)
		}
	}, nil
}

// Watches returns the watches of a scope at this moment.
func (l *Limiter) Watches(scope string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.watches[scope]
}

// Counts returns the counts of the scopes that the limiter keeps, and the sum of all others.
func (l *Limiter) Counts() (kept map[string]Counts, others Counts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept = make(map[string]Counts, l.scopes.Len())
	for _, scope := range l.scopes.Keys() {
		if u, ok := l.scopes.Peek(scope); ok {
			kept[scope] = u.counts
		}
	}
	return kept, l.gone
}

// enter counts and charges calls, unless the scope has used up a rate. Callers hold the limiter's mu.
func (u *use) enter(scope string, now time.Time, calls int) error {
	if wait := u.requests.wait(now, u.policy.RequestsPerSecond); wait > 0 {
		return u.refuse(scope, "requests_per_second", u.policy.RequestsPerSecond, wait)
	}
	if wait := u.bytes.wait(now, u.policy.BytesPerSecond); wait > 0 {
		return u.refuse(scope, "bytes_per_second", u.policy.BytesPerSecond, wait)
	}
	u.requests.spend(now, u.policy.RequestsPerSecond, uint64(calls))
	u.counts.Requests += uint64(calls)
	return nil
}

func (u *use) refuse(scope, limit string, most uint64, wait time.Duration) *agent.Error {
	u.counts.Refused++
	e := agent.Errorf(agent.CodeOverloaded, "scope %q is over its policy's %s = %d on this node: send less, or have an operator raise the limit", scope, limit, most)
	e.Limit = fmt.Sprintf("%s=%d", limit, most)
	e.RetryAfterMS = max(wait.Milliseconds(), 1)
	return e
}
