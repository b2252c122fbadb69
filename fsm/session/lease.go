package session

import (
	"encoding/binary"
	"time"

	"dormouse/agent"
	"dormouse/fsm/claim"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// A session's lease is the claim SessionClaim(id), held by its owner. So it expires as claims do,
// and fences any commit. The session's row has the epoch of its turn, even after the claim has
// ended: then the session is recoverable.

// beginLease begins a turn for an owner, under a new epoch.
func beginLease(c *txn.Tx, s *Session, owner string, ttl time.Duration) error {
	if err := validOwner(owner, ttl); err != nil {
		return err
	}
	result, err := claim.BeginHolding(c, agent.SessionClaim(s.Id), owner, ttl)
	if err != nil {
		return err
	}
	epoch := result.(*agent.ClaimResult).Claim.Epoch //nolint:forcetypeassert // claim.BeginHolding answers with nothing else
	s.Row.Lease = &logpb.SessionLease{Owner: owner, Epoch: epoch, AcquiredAt: c.Progress.Wall}
	s.Row.Status = string(agent.SessionRunning)
	return nil
}

func validOwner(owner string, ttl time.Duration) error {
	if err := agent.ValidKey("owner_id", owner); err != nil {
		return err
	}
	if ttl < agent.ClaimTTLMin || ttl > agent.ClaimTTLMax {
		return agent.Invalid("ttl", "ttl = %v must be from %v to %v", ttl, agent.ClaimTTLMin, agent.ClaimTTLMax)
	}
	return nil
}

// underLease returns the claim of the named lease, which must be the session's and unexpired. It is
// checked before all other arguments.
func underLease(c *txn.Tx, s *Session, lease, owner string) (*logpb.ClaimRow, error) {
	held := s.Row.Lease
	if held == nil || (held.Epoch != agent.LeaseEpoch(lease) || held.Owner != owner) && !seededbug.Is(seededbug.StaleLeaseActs) {
		return nil, leaseRefusal(c, s, agent.CodeStaleSessionLease, "is not leased to %q as %q", owner, lease)
	}
	row, err := claim.LoadStanding(c.Entry, c.Scope, agent.SessionClaim(s.Id))
	if err != nil {
		return nil, err
	}
	if row == nil || row.Epoch != held.Epoch {
		return nil, leaseRefusal(c, s, agent.CodeSessionLeaseExpired,
			"was leased to %q as %q, which has expired: recover the session", owner, lease)
	}
	return row, nil
}

// leaseRefusal returns an error about the lease, with the session's current lease.
func leaseRefusal(c *txn.Tx, s *Session, code agent.Code, format string, args ...any) error {
	e := agent.Errorf(code, "session %q "+format, append([]any{s.Id}, args...)...)
	e.State = s.Row.Status
	lease, _, err := sessionsIn(c).lease(s.Id, s.Row)
	if err != nil {
		return err
	}
	if lease != nil {
		e.Epoch, e.Holder, e.ExpiresAt = lease.Epoch, lease.Owner, lease.ExpiresAt
	}
	return e
}

// armLease restarts a lease with its TTL, or with another one.
func armLease(c *txn.Tx, s *Session, row *logpb.ClaimRow, ttl time.Duration) error {
	if ttl != 0 {
		if err := validOwner(row.Holder, ttl); err != nil {
			return err
		}
		row.TtlMs = command.Millis(ttl)
	}
	_, err := claim.Arm(c, agent.SessionClaim(s.Id), row)
	return err
}

// endLease ends the session's lease, whether it has expired or not.
func endLease(c *txn.Tx, s *Session) error {
	if s.Row.Lease == nil {
		return nil
	}
	s.Row.Lease = nil
	name := agent.SessionClaim(s.Id)
	row, err := claim.Load(c.Entry, c.Scope, name)
	if err != nil || row == nil {
		return err
	}
	claim.Drop(c, name, row)
	return nil
}

// LeaseLapsed records that an expired claim was removed: if it was a session's lease, the session
// is recoverable now.
func LeaseLapsed(c *txn.Tx, claim string, epoch uint64) error {
	id, ok := agent.ClaimedSession(claim)
	if !ok {
		return nil
	}
	s, err := LoadStored(c, id)
	if err != nil || s == nil || s.Row.GetLease().GetEpoch() != epoch {
		return err
	}
	c.Rows.Set(kv.IDKey(kv.KindSessionRecoverable, c.Scope, id), RecoverableRow(c.Progress.Wall))
	c.NotifyWatchers(kv.IDKey(kv.KindSession, c.Scope, id))
	sessionChanged(c, s)
	return nil
}

// RecoverableRow returns the value of the row that holds since when a session has no runner, in
// Unix ms.
func RecoverableRow(wall int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(max(wall, 0)))
}

// Renew runs renew_session.
func Renew(c *txn.Tx, op *agent.RenewSession) (agent.OpResult, error) {
	s, err := Load(c, op.Session)
	if err != nil {
		return nil, err
	}
	row, err := underLease(c, s, op.LeaseID, op.Owner)
	if err != nil {
		return nil, err
	}
	if err := armLease(c, s, row, op.TTL); err != nil {
		return nil, err
	}
	return Stored(c, s)
}
