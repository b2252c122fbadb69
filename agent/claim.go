package agent

import (
	"strings"
	"time"
)

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

// claimOp judges an op on a claim and adds it to the tally.
func (t *tally) claimOp(op Op) error {
	switch o := op.(type) {
	case *TakeClaim:
		t.bytes += len(o.Claim) + len(o.Holder)
		if o.TTL == 0 {
			o.TTL = ClaimTTLDefault
		}
		return firstOf(CallersClaim(o.Claim), ValidID("holder", o.Holder), validClaimTTL(o.TTL))
	case *RenewClaim:
		t.bytes += len(o.Claim) + len(o.Holder)
		return firstOf(validHolding(o.Claim, o.Holder, o.Epoch), validClaimTTL(o.TTL))
	case *ReleaseClaim:
		t.bytes += len(o.Claim) + len(o.Holder) + len(o.To)
		return firstOf(validHolding(o.Claim, o.Holder, o.Epoch), validNextHolder(o), validClaimTTL(o.TTL))
	default:
		return t.sessionOp(op)
	}
}

// CallersClaim judges the name of a claim that a caller takes, renews or
// releases: those that stand for something have calls of their own.
func CallersClaim(name string) error {
	switch session, isSession := ClaimedSession(name); {
	case isSession:
		return Invalid("claim", "claim %q is the lease of session %q: claim, renew or commit the session", name, session)
	case strings.HasPrefix(name, partitionClaimPrefix):
		return Invalid("claim", "claim %q is the cluster's own: choose another name", name)
	}
	return ValidID("claim", name)
}

// validHolding judges what names a holding.
func validHolding(claim, holder string, epoch uint64) error {
	if err := firstOf(CallersClaim(claim), ValidID("holder", holder)); err != nil {
		return err
	}
	if epoch == 0 {
		return Invalid("epoch", "epoch must be the one that taking the claim gave, which is never 0")
	}
	return nil
}

func validNextHolder(o *ReleaseClaim) error {
	switch {
	case o.To != "":
		return ValidID("to", o.To)
	case o.TTL != 0:
		return Invalid("ttl", "a release to nobody has no ttl: name the next holder in to, or leave the ttl out")
	}
	return nil
}

func validClaimTTL(ttl time.Duration) error {
	if ttl != 0 && (ttl < ClaimTTLMin || ttl > ClaimTTLMax) {
		return Invalid("ttl", "ttl = %v must be from %v to %v", ttl, ClaimTTLMin, ClaimTTLMax)
	}
	return nil
}
