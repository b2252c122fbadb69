package agent

import (
	"strings"
	"time"
)

// Claim is the exclusive right to a name, for as long as its holder renews it. Callers
// choose the name and its meaning.
//
// Each holding has its own Epoch, which is never used again in any scope. A write with
// the epoch as its Fence applies only during that holding. A claim without a holder
// has only a name.
type Claim struct {
	Name      string
	Holder    string // "" if it has no holder
	Epoch     uint64 // grows with each holding; renewing keeps it
	TTL       time.Duration
	ClaimedAt int64 // Unix ms: when this holding began
	ExpiresAt int64 // Unix ms, for people: the holding ends by log time, which stops while there is no leader
}

// Held reports whether the claim has a holder.
func (c Claim) Held() bool { return c.Epoch != 0 }

// Fence returns the fence of a commit that applies only during this holding.
func (c Claim) Fence() *Fence { return &Fence{Claim: c.Name, Epoch: c.Epoch} }

func (o *TakeClaim) validateOp(t *tally) error {
	t.bytes += len(o.Claim) + len(o.Holder)
	if o.TTL == 0 {
		o.TTL = ClaimTTLDefault
	}
	return firstOf(validClaim(o.Claim), ValidID("holder", o.Holder), validClaimTTL(o.TTL))
}

func (o *RenewClaim) validateOp(t *tally) error {
	t.bytes += len(o.Claim) + len(o.Holder)
	return firstOf(validHolding(o.Claim, o.Holder, o.Epoch), validClaimTTL(o.TTL))
}

func (o *ReleaseClaim) validateOp(t *tally) error {
	t.bytes += len(o.Claim) + len(o.Holder) + len(o.To)
	return firstOf(validHolding(o.Claim, o.Holder, o.Epoch), validNextHolder(o), validClaimTTL(o.TTL))
}

// CallersClaim validates the name of a claim that a caller takes, renews or releases.
// Leases of sessions and partitions have their own calls, so their claims are refused.
func CallersClaim(name string) error {
	switch session, isSession := ClaimedSession(name); {
	case isSession:
		return Invalid("claim", "claim %q is the lease of session %q: claim, renew or commit the session", name, session)
	case strings.HasPrefix(name, PartitionClaimPrefix):
		return Invalid("claim", "claim %q belongs to the cluster: choose another name", name)
	}
	return ValidKey("claim", name)
}

func validClaim(name string) error { return firstOf(CallersClaim(name), ValidID("claim", name)) }

// validHolding validates the name, the holder and the epoch of a holding.
func validHolding(claim, holder string, epoch uint64) error {
	if err := firstOf(validClaim(claim), ValidID("holder", holder)); err != nil {
		return err
	}
	if epoch == 0 {
		return Invalid("epoch", "epoch must be the epoch that taking the claim returned; it is never 0")
	}
	return nil
}

func validNextHolder(o *ReleaseClaim) error {
	switch {
	case o.To != "":
		return ValidID("to", o.To)
	case o.TTL != 0:
		return Invalid("ttl", "ttl needs a next holder: set to, or leave ttl out")
	}
	return nil
}

func validClaimTTL(ttl time.Duration) error {
	if ttl != 0 && (ttl < ClaimTTLMin || ttl > ClaimTTLMax) {
		return Invalid("ttl", "ttl = %v must be from %v to %v", ttl, ClaimTTLMin, ClaimTTLMax)
	}
	return nil
}
