package host

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/semaphore"

	"dormouse/agent"
)

const (
	// policyMaxAge is how long a policy is used before it is read again.
	policyMaxAge = time.Second
	// policiesMax is how many scopes' policies are kept: the ones used last.
	policiesMax = 4096
	// policyReadsMax bounds the reads of policies at once.
	policyReadsMax = 4
	policyTimeout  = 5 * time.Second
)

// policies keeps the policies of the scopes whose instances this host runs. It reads them in the
// background, so a host applies a policy a moment after the first instance of the scope woke.
type policies struct {
	service agent.Service
	reads   *semaphore.Weighted

	mu     sync.Mutex
	scopes *simplelru.LRU[string, *policy] // guarded by mu
}

// policy is what is known of one scope; guarded by policies.mu.
type policy struct {
	awakeMax uint64
	readAt   time.Time // when the newest read began
	reading  bool
}

func newPolicies(service agent.Service) *policies {
	scopes, err := simplelru.NewLRU[string, *policy](policiesMax, nil)
	if err != nil {
		panic(err) // only for a size below one
	}
	return &policies{service: service, reads: semaphore.NewWeighted(policyReadsMax), scopes: scopes}
}

// awakeMax returns how many instances of a scope may be awake, as far as this host knows; 0 means no
// limit. It does not block.
func (p *policies) awakeMax(scope string) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.scopes.Get(scope)
	if !ok {
		known = &policy{}
		p.scopes.Add(scope, known)
	}
	now := time.Now()
	if !known.reading && now.Sub(known.readAt) >= policyMaxAge && p.reads.TryAcquire(1) {
		known.reading, known.readAt = true, now
		go p.read(scope, known)
	}
	return known.awakeMax
}

// read reads the policy of a scope. A failed read keeps the policy before.
func (p *policies) read(scope string, known *policy) {
	defer p.reads.Release(1)
	ctx, cancel := context.WithTimeout(context.Background(), policyTimeout)
	defer cancel()
	answers, err := p.service.Read(ctx, agent.Reads{Scope: scope, Stale: true, Reads: []agent.Read{&agent.GetScope{}}})
	p.mu.Lock()
	defer p.mu.Unlock()
	known.reading = false
	if err != nil || len(answers.Answers) != 1 || answers.Answers[0].Err != nil {
		return
	}
	if found, ok := answers.Answers[0].Found.(*agent.Scope); ok {
		known.awakeMax = found.Policy.AwakeMax
	}
}
