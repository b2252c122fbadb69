package agent

import "time"

// claimOp judges an op on a claim and adds it to the tally.
func (t *tally) claimOp(op Op) error {
	switch o := op.(type) {
	case *TakeClaim:
		t.bytes += len(o.Claim) + len(o.Holder)
		if o.TTL == 0 {
			o.TTL = ClaimTTLDefault
		}
		return firstOf(ValidID("claim", o.Claim), ValidID("holder", o.Holder), validClaimTTL(o.TTL))
	case *RenewClaim:
		t.bytes += len(o.Claim) + len(o.Holder)
		return firstOf(validHolding(o.Claim, o.Holder, o.Epoch), validClaimTTL(o.TTL))
	case *ReleaseClaim:
		t.bytes += len(o.Claim) + len(o.Holder) + len(o.To)
		return firstOf(validHolding(o.Claim, o.Holder, o.Epoch), validNextHolder(o), validClaimTTL(o.TTL))
	default:
		return Invalid("op", "there is no op here: name one")
	}
}

// validHolding judges what names a holding.
func validHolding(claim, holder string, epoch uint64) error {
	if err := firstOf(ValidID("claim", claim), ValidID("holder", holder)); err != nil {
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
