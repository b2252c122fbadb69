package fsm_test

import (
	"maps"
	"time"

	"pgregory.net/rapid"

	"dormouse/agent"
)

// modelClaim is a held claim, and the tick at which it ends.
type modelClaim struct {
	holder    string
	epoch     uint64
	ttl       time.Duration
	claimedAt int64
	ends      uint64
}

func (c modelClaim) seen(name string, m *model) agent.Claim {
	return agent.Claim{
		Name: name, Holder: c.holder, Epoch: c.epoch, TTL: c.ttl, ClaimedAt: c.claimedAt, ExpiresAt: m.now + int64(c.ends-m.tick),
	}
}

// pass advances the ticks. When another leader takes over, held claims restart their full TTL from
// the last tick of the leader before.
func (m *model) pass(tick uint64, anotherLeads bool) {
	if anotherLeads {
		for name, c := range m.claims {
			c.ends = m.tick + uint64(c.ttl.Milliseconds())
			m.claims[name] = c
		}
	}
	m.tick = tick
	maps.DeleteFunc(m.claims, func(_ string, c modelClaim) bool { return c.ends <= tick })
}

func (m *model) fenced(f *agent.Fence) bool {
	return f != nil && (f.Epoch == 0 || m.claims[f.Claim].epoch != f.Epoch)
}

// begin starts a new holding; its epoch is taken from the machine's answer.
func (m *model) begin(name, holder string, ttl time.Duration, got agent.OpResult) agent.OpResult {
	c := modelClaim{holder: holder, ttl: ttl, claimedAt: m.now}
	if got, ok := got.(*agent.ClaimResult); ok {
		c.epoch = m.born(got.Claim.Epoch)
	}
	return m.arm(name, c)
}

func (m *model) arm(name string, c modelClaim) agent.OpResult {
	c.ends = m.tick + uint64(c.ttl.Milliseconds())
	m.claims[name] = c
	return &agent.ClaimResult{Claim: c.seen(name, m)}
}

func (m *model) takeClaim(op *agent.TakeClaim, got agent.OpResult) (agent.OpResult, agent.Code) {
	if c, held := m.claims[op.Claim]; held && c.holder != op.Holder {
		return nil, agent.CodeAlreadyClaimed
	}
	return m.begin(op.Claim, op.Holder, op.TTL, got), ""
}

func (m *model) renewClaim(op *agent.RenewClaim) (agent.OpResult, agent.Code) {
	c := m.claims[op.Claim]
	if c.epoch != op.Epoch || c.holder != op.Holder {
		return nil, agent.CodeFenced
	}
	if op.TTL != 0 {
		c.ttl = op.TTL
	}
	return m.arm(op.Claim, c), ""
}

func (m *model) releaseClaim(op *agent.ReleaseClaim, got agent.OpResult) (agent.OpResult, agent.Code) {
	c := m.claims[op.Claim]
	if c.epoch != op.Epoch || c.holder != op.Holder {
		return nil, agent.CodeFenced
	}
	delete(m.claims, op.Claim)
	if op.To == "" {
		return &agent.ClaimResult{Claim: agent.Claim{Name: op.Claim}}, ""
	}
	if op.TTL != 0 {
		c.ttl = op.TTL
	}
	return m.begin(op.Claim, op.To, c.ttl, got), ""
}

var (
	holders   = rapid.SampledFrom([]string{"anna", "ben"})
	claimTTLs = rapid.SampledFrom([]time.Duration{time.Second, 2 * time.Second, time.Minute, time.Hour})
)

// holding draws the holder and the epoch of a claim, or values close to them.
func (g *generator) holding(t *rapid.T, name string) (holder string, epoch uint64) {
	c := g.model.claims[name]
	holder, epoch = c.holder, max(c.epoch, 1)
	if holder == "" || rapid.IntRange(0, 5).Draw(t, "who") == 0 {
		holder = holders.Draw(t, "holder")
	}
	if rapid.IntRange(0, 5).Draw(t, "which epoch") == 0 {
		epoch = rapid.SampledFrom(append([]uint64{1}, g.epochs...)).Draw(t, "epoch")
	}
	g.epochs = append(g.epochs, epoch)
	return holder, epoch
}

func (g *generator) claimOp(t *rapid.T, name string) agent.Op {
	ttl := time.Duration(0)
	if rapid.Bool().Draw(t, "with ttl") {
		ttl = claimTTLs.Draw(t, "ttl")
	}
	switch rapid.IntRange(0, 4).Draw(t, "claim op") {
	case 0:
		holder, epoch := g.holding(t, name)
		return &agent.RenewClaim{Claim: name, Holder: holder, Epoch: epoch, TTL: ttl}
	case 1:
		holder, epoch := g.holding(t, name)
		return &agent.ReleaseClaim{Claim: name, Holder: holder, Epoch: epoch}
	case 2:
		holder, epoch := g.holding(t, name)
		return &agent.ReleaseClaim{Claim: name, Holder: holder, Epoch: epoch, To: holders.Draw(t, "to"), TTL: ttl}
	default:
		return &agent.TakeClaim{Claim: name, Holder: holders.Draw(t, "holder"), TTL: claimTTLs.Draw(t, "ttl")}
	}
}

// fence draws no fence, the current one, or a wrong one.
func (g *generator) fence(t *rapid.T) *agent.Fence {
	if rapid.IntRange(0, 3).Draw(t, "fenced") != 0 {
		return nil
	}
	name := keys.Draw(t, "fence")
	_, epoch := g.holding(t, name)
	return &agent.Fence{Claim: name, Epoch: epoch}
}
