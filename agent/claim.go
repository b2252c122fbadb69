package agent

import "time"

// Claim is the exclusive right to a name, for as long as its holder renews it.
// The name is the callers' to choose, and so is what it stands for.
//
// Epoch numbers the holding: it is never used again, in any scope, so a write
// that carries it as its Fence applies only while that very holding stands. A
// claim that nobody holds has a name and nothing else.
type Claim struct {
	Name      string
	Holder    string // "" where nobody holds it
	Epoch     uint64 // grows with each holding; renewing keeps it
	TTL       time.Duration
	ClaimedAt int64 // Unix ms: when this holding began
	ExpiresAt int64 // Unix ms, for people: the holding ends by log time, which stands still while nobody leads
}

// Held tells whether anybody holds the claim.
func (c Claim) Held() bool { return c.Epoch != 0 }

// Fence is what a commit carries that is to apply only while this holding
// stands.
func (c Claim) Fence() *Fence { return &Fence{Claim: c.Name, Epoch: c.Epoch} }
