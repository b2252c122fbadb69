package memstore

import (
	"maps"
	"math"
	"slices"

	"dormouse/agent"
)

// never is later than all times.
const never = int64(math.MaxInt64)

// refresh lets time pass: if anything is due, it expires in a log entry of its own.
func (st *Store) refresh() {
	now := st.wall()
	for _, s := range st.scopes {
		if s.due() <= now {
			st.index.Add(1)
			st.now = now
			st.expire()
			st.wake()
			return
		}
	}
}

// expire removes from all scopes what is due at the time of the current entry.
func (st *Store) expire() {
	for _, name := range slices.Sorted(maps.Keys(st.scopes)) {
		old := st.scopes[name]
		if old.due() > st.now {
			continue
		}
		s := old.clone(st.now)
		before := s.picture()
		s.sweep()
		s.sessions.Pass(sessionHost{st, s})
		for _, id := range slices.Sorted(maps.Keys(s.sessions.Sessions)) {
			if gone(s.sessions.Sessions[id].ExpiresAt, st.now) {
				_, _, _ = s.sessions.Apply(sessionHost{st, s}, &agent.DeleteSession{Session: id}) // without a condition it succeeds
			}
		}
		s.count()
		st.scopes[name] = s
		st.record(s, appendChanges(nil, s, nil, before, s.picture()))
	}
}

// gone reports whether something with that expiry has expired; 0 means never.
func gone(expiresAt, now int64) bool { return expiresAt != 0 && expiresAt <= now }

// sweep removes what has expired, except for sessions and reviews.
func (s *scope) sweep() {
	maps.DeleteFunc(s.values, func(_ string, v *agent.Value) bool { return gone(v.ExpiresAt, s.now) })
	maps.DeleteFunc(s.threads, func(_ string, t *thread) bool { return gone(t.ExpiresAt, s.now) })
	maps.DeleteFunc(s.claims, func(_ string, c *agent.Claim) bool { return gone(c.ExpiresAt, s.now) })
	maps.DeleteFunc(s.memories, func(_ memoryName, m *memory) bool { return gone(m.ExpiresAt, s.now) })
	maps.DeleteFunc(s.seals, func(_ sealed, seal seal) bool { return seal.until <= s.now })
	maps.DeleteFunc(s.erasures, func(_ string, e *agent.Erasure) bool { return keptUntil(e) <= s.now })
	maps.DeleteFunc(s.deletions, func(_ string, d *agent.PrefixDeletion) bool { return receiptEnd(d) <= s.now })
	s.dialogues.Expire(s.now)
	for key, kept := range s.checkpoints {
		if gone(kept[0].ExpiresAt, s.now) {
			delete(s.checkpoints, key)
			continue
		}
		s.checkpoints[key] = slices.DeleteFunc(slices.Clone(kept), func(c *agent.Checkpoint) bool { return gone(s.replaced[c], s.now) })
	}
	s.forgetReplaced()
}

// forgetReplaced drops the expiry of revisions that are no longer kept.
func (s *scope) forgetReplaced() {
	maps.DeleteFunc(s.replaced, func(c *agent.Checkpoint, _ int64) bool { return !slices.Contains(s.checkpoints[c.Key], c) })
}

// keptUntil returns when a receipt is dropped.
func keptUntil(e *agent.Erasure) int64 {
	return max(e.ErasedAt+agent.ErasureTTL.Milliseconds(), e.SealedUntil)
}

// due returns when the next thing in the scope expires, or a review is escalated.
func (s *scope) due() int64 {
	next := never
	at := func(expiresAt int64) {
		if expiresAt != 0 {
			next = min(next, expiresAt)
		}
	}
	for _, v := range s.values {
		at(v.ExpiresAt)
	}
	for _, kept := range s.checkpoints {
		at(kept[0].ExpiresAt)
	}
	for _, expiresAt := range s.replaced {
		at(expiresAt)
	}
	for _, t := range s.threads {
		at(t.ExpiresAt)
	}
	for _, c := range s.claims {
		at(c.ExpiresAt)
	}
	for _, m := range s.memories {
		at(m.ExpiresAt)
	}
	for _, c := range s.dialogues {
		at(c.ExpiresAt)
	}
	for _, v := range s.sessions.Sessions {
		at(v.ExpiresAt)
	}
	for _, r := range s.sessions.Reviews {
		if r.Status == agent.ReviewPending {
			at(nextTime(r))
		}
	}
	for _, e := range s.erasures {
		at(keptUntil(e))
	}
	for _, d := range s.deletions {
		at(receiptEnd(d))
	}
	for _, seal := range s.seals {
		at(seal.until)
	}
	return next
}
