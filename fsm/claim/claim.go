package claim

import (
	"time"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/internal/invariant"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// Ops are the ops on claims.
var Ops = []txn.Op{txn.OpOf(Take), txn.OpOf(Renew), txn.OpOf(Release)}

// Reads are the reads of claims.
var Reads = []txn.Read{txn.ReadOf(Get), txn.ReadOf(List)}

// A claim has a row while it is held, and then until the sweep removes it. It leaves no tombstone:
// epochs are never reused, so the epoch of a removed claim never matches again.

// LoadStanding returns the row of a claim that is held and has not expired, or nil.
func LoadStanding(b *txn.Entry, scope, name string) (*logpb.ClaimRow, error) {
	row, err := Load(b, scope, name)
	if err != nil || row == nil || Lapsed(row, b.Opening, b.Progress.Tick) {
		return nil, err
	}
	return row, nil
}

// Load returns a claim's row, even if the claim has expired, or nil.
func Load(b *txn.Entry, scope, name string) (*logpb.ClaimRow, error) {
	raw, err := b.Rows.Get(kv.IDKey(kv.KindClaim, scope, name))
	if err != nil || raw == nil {
		return nil, err
	}
	return DecodeRow(name, raw)
}

// DecodeRow decodes the row of the claim of a name; nil is no row.
func DecodeRow(name string, raw []byte) (*logpb.ClaimRow, error) {
	return command.Decode[logpb.ClaimRow](raw, "claim", name)
}

// Standing returns the claim as callers see it; a nil row means that it is not held.
func Standing(name string, row *logpb.ClaimRow, o txn.TermStart, now txn.Progress) agent.Claim {
	if row == nil {
		return agent.Claim{Name: name}
	}
	left := max(lapse(row, o), now.Tick) - now.Tick
	return agent.Claim{
		Name: name, Holder: row.Holder, Epoch: row.Epoch, TTL: command.Duration(row.TtlMs), ClaimedAt: row.ClaimedAt,
		ExpiresAt: now.Wall + int64(left),
	}
}

// Take runs take_claim.
func Take(c *txn.Tx, op *agent.TakeClaim) (agent.OpResult, error) {
	if err := validClaim(op.Claim, op.Holder, op.TTL); err != nil {
		return nil, err
	}
	held, err := LoadStanding(c.Entry, c.Scope, op.Claim)
	if err != nil {
		return nil, err
	}
	if held != nil && held.Holder != op.Holder {
		now := Standing(op.Claim, held, c.Opening, c.Progress)
		e := agent.Errorf(agent.CodeAlreadyClaimed, "claim %q is held by %q, at epoch %d: wait until it is released or has expired",
			op.Claim, now.Holder, now.Epoch)
		e.Epoch, e.Holder, e.ExpiresAt = now.Epoch, now.Holder, now.ExpiresAt
		return nil, e
	}
	return BeginHolding(c, op.Claim, op.Holder, op.TTL)
}

// BeginHolding gives the claim to a holder, under a new epoch.
func BeginHolding(c *txn.Tx, name, holder string, ttl time.Duration) (agent.OpResult, error) {
	old, err := Load(c.Entry, c.Scope, name) // also an expired one, whose queue entry is replaced
	if err != nil {
		return nil, err
	}
	if old == nil {
		c.AddUsage(1, 0)
	}
	row := &logpb.ClaimRow{
		Holder: holder, Epoch: c.NewIncarnation(), TtlMs: command.Millis(ttl), QueuedTick: old.GetQueuedTick(), ClaimedAt: c.Progress.Wall,
	}
	if seededbug.Is(seededbug.EpochReused) {
		row.Epoch = old.GetEpoch() + 1
	}
	invariant.Check(row.Epoch > old.GetEpoch(), "claim %q: epoch %d follows %d", name, row.Epoch, old.GetEpoch())
	c.Changed(agent.ChangedClaim, name, row.Epoch)
	return Arm(c, name, row)
}

// Arm restarts the claim's TTL at this entry.
func Arm(c *txn.Tx, name string, row *logpb.ClaimRow) (agent.OpResult, error) {
	row.ArmedTick = c.Progress.Tick
	queueClaim(c.Entry, c.Scope, name, row)
	if err := storeClaim(c.Entry, c.Scope, name, row); err != nil {
		return nil, err
	}
	return &agent.ClaimResult{Claim: Standing(name, row, c.Opening, c.Progress)}, nil
}

func storeClaim(b *txn.Entry, scope, name string, row *logpb.ClaimRow) error {
	raw := command.Marshal(row)
	key := kv.IDKey(kv.KindClaim, scope, name)
	b.Rows.Set(key, raw)
	b.NotifyWatchers(key)
	return nil
}

// Renew runs renew_claim.
func Renew(c *txn.Tx, op *agent.RenewClaim) (agent.OpResult, error) {
	row, err := holding(c, op.Claim, op.Holder, op.Epoch, op.TTL)
	if err != nil {
		return nil, err
	}
	if op.TTL != 0 {
		row.TtlMs = command.Millis(op.TTL)
	}
	return Arm(c, op.Claim, row)
}

// Release runs release_claim.
func Release(c *txn.Tx, op *agent.ReleaseClaim) (agent.OpResult, error) {
	row, err := holding(c, op.Claim, op.Holder, op.Epoch, op.TTL)
	if err != nil {
		return nil, err
	}
	if op.To == "" {
		Drop(c, op.Claim, row)
		return &agent.ClaimResult{Claim: agent.Claim{Name: op.Claim}}, nil
	}
	if err := agent.ValidKey("to", op.To); err != nil {
		return nil, err
	}
	ttl := op.TTL
	if ttl == 0 {
		ttl = command.Duration(row.TtlMs)
	}
	return BeginHolding(c, op.Claim, op.To, ttl)
}

// holding returns the row of an unexpired claim with that holder and epoch.
func holding(c *txn.Tx, name, holder string, epoch uint64, ttl time.Duration) (*logpb.ClaimRow, error) {
	if ttl == 0 {
		ttl = agent.ClaimTTLDefault // the current TTL stays
	}
	if err := validClaim(name, holder, ttl); err != nil {
		return nil, err
	}
	row, err := LoadStanding(c.Entry, c.Scope, name)
	if err != nil {
		return nil, err
	}
	if row == nil || row.Epoch != epoch || row.Holder != holder {
		return nil, FencedRefusal(name, epoch, row)
	}
	return row, nil
}

// Drop removes a claim.
func Drop(c *txn.Tx, name string, row *logpb.ClaimRow) {
	key := kv.IDKey(kv.KindClaim, c.Scope, name)
	c.Rows.Remove(key)
	c.Rows.Remove(kv.DueClaimKey(row.QueuedTick, c.Scope, name))
	c.NotifyWatchers(key)
	c.Removed(agent.ChangedClaim, name)
	c.AddUsage(-1, 0)
}

// validClaim repeats the request validation, because an entry may come from another build.
func validClaim(name, holder string, ttl time.Duration) error {
	if err := agent.CallersClaim(name); err != nil {
		return err
	}
	if err := agent.ValidKey("holder", holder); err != nil {
		return err
	}
	if ttl < agent.ClaimTTLMin || ttl > agent.ClaimTTLMax {
		return agent.Invalid("ttl", "ttl = %v must be from %v to %v", ttl, agent.ClaimTTLMin, agent.ClaimTTLMax)
	}
	return nil
}

// FencedRefusal returns the error of a caller that no longer holds a claim. row is the current
// holding, or nil.
func FencedRefusal(claim string, epoch uint64, row *logpb.ClaimRow) *agent.Error {
	if row == nil {
		return agent.Errorf(agent.CodeFenced, "epoch %d of claim %q has ended, and it is not held now: take it again", epoch, claim)
	}
	e := agent.Errorf(agent.CodeFenced, "claim %q is held by %q at epoch %d, not by the caller at epoch %d", claim, row.Holder, row.Epoch, epoch)
	e.Epoch, e.Holder = row.Epoch, row.Holder
	return e
}
