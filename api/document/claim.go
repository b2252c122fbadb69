package document

import (
	"dormouse/agent"
)

var claimOps = map[string]func() wireOp{
	"take_claim":    func() wireOp { return new(takeClaimOp) },
	"renew_claim":   func() wireOp { return new(renewClaimOp) },
	"release_claim": func() wireOp { return new(releaseClaimOp) },
}

// Claim is the state of a claim.
type Claim struct {
	Name      string `json:"name"`
	Holder    string `json:"holder,omitzero" doc:"Absent, like the members after it, if the claim has no holder"`
	Epoch     uint64 `json:"epoch,omitzero" doc:"Of this holding, for Dormouse-Fence; it only grows"`
	TTLMS     int64  `json:"ttl_ms,omitzero"`
	ClaimedAt int64  `json:"claimed_at,omitzero" doc:"When this holding began"`
	ExpiresAt int64  `json:"expires_at,omitzero" doc:"Unless it is renewed; by log time, which stops while there is no leader"`
}

// ClaimOf returns the document of c.
func ClaimOf(c agent.Claim) Claim {
	return Claim{
		Name: c.Name, Holder: c.Holder, Epoch: c.Epoch, TTLMS: c.TTL.Milliseconds(), ClaimedAt: c.ClaimedAt, ExpiresAt: c.ExpiresAt,
	}
}

// TakeBody asks for a claim.
type TakeBody struct {
	Holder string `json:"holder"`
	TTLMS  uint64 `json:"ttl_ms,omitempty" doc:"From 1,000 to 86,400,000; 30,000 if absent"`
}

// ToOp returns the op that the body asks for.
func (b *TakeBody) ToOp(name string) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", b.TTLMS)
	return &agent.TakeClaim{Claim: name, Holder: b.Holder, TTL: ttl}, err
}

// RenewBody renews a holding.
type RenewBody struct {
	Holder string `json:"holder"`
	Epoch  uint64 `json:"epoch"`
	TTLMS  uint64 `json:"ttl_ms,omitempty" doc:"The current one if absent"`
}

// ToOp returns the op that the body asks for.
func (b *RenewBody) ToOp(name string) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", b.TTLMS)
	return &agent.RenewClaim{Claim: name, Holder: b.Holder, Epoch: b.Epoch, TTL: ttl}, err
}

// ReleaseBody ends a holding, or hands the claim over.
type ReleaseBody struct {
	Holder string `json:"holder"`
	Epoch  uint64 `json:"epoch"`
	To     string `json:"to,omitempty" doc:"The next holder, under a new epoch; none if absent"`
	TTLMS  uint64 `json:"ttl_ms,omitempty" doc:"Of the next holding; the current one if absent"`
}

// ToOp returns the op that the body asks for.
func (b *ReleaseBody) ToOp(name string) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", b.TTLMS)
	return &agent.ReleaseClaim{Claim: name, Holder: b.Holder, Epoch: b.Epoch, To: b.To, TTL: ttl}, err
}

type takeClaimOp struct {
	opName
	Claim string `json:"claim"`
	TakeBody
}

func (o *takeClaimOp) op() (agent.Op, error) { return o.ToOp(o.Claim) }

type renewClaimOp struct {
	opName
	Claim string `json:"claim"`
	RenewBody
}

func (o *renewClaimOp) op() (agent.Op, error) { return o.ToOp(o.Claim) }

type releaseClaimOp struct {
	opName
	Claim string `json:"claim"`
	ReleaseBody
}

func (o *releaseClaimOp) op() (agent.Op, error) { return o.ToOp(o.Claim) }
