package claim

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// Get answers get_claim.
func Get(r txn.Reader, q *agent.GetClaim) (agent.Found, error) {
	claim, err := Read(r, q.Claim)
	if err == nil && !claim.Held() {
		err = agent.Errorf(agent.CodeNotFound, "claim %q is not held", q.Claim)
	}
	return &claim, err
}

// Read returns a claim at the reader's entry. An expired claim has no holder, even if it has not
// been swept yet.
func Read(r txn.Reader, name string) (agent.Claim, error) {
	raw, err := r.Get(kv.IDKey(kv.KindClaim, r.Scope, name))
	if err != nil || raw == nil {
		return agent.Claim{Name: name}, err
	}
	o, err := txn.ReadTermStart(r.Engine)
	if err != nil {
		return agent.Claim{}, err
	}
	return claimOf(r, name, raw, o)
}

func claimOf(r txn.Reader, name string, raw []byte, o txn.TermStart) (agent.Claim, error) {
	row, err := DecodeRow(name, raw)
	if err != nil {
		return agent.Claim{}, err
	}
	over := Lapsed(row, o, r.Progress.Tick)
	if !over {
		if over, err = txn.LeaseGone(r, r.Scope, name, r.Progress.Wall); err != nil {
			return agent.Claim{}, err
		}
	}
	if over {
		row = nil
	}
	return Standing(name, row, o, r.Progress), nil
}

// List answers list_claims.
func List(r txn.Reader, q *agent.ListClaims) (agent.Found, error) {
	o, err := txn.ReadTermStart(r.Engine)
	if err != nil {
		return nil, err
	}
	list := &agent.ClaimList{}
	list.Next, err = r.EachInPage(kv.ScopeKey(kv.KindClaim, r.Scope), q.Page, func(name string, raw []byte) (int, error) {
		claim, err := claimOf(r, name, raw, o)
		if err != nil || !claim.Held() {
			return 0, err
		}
		list.Items = append(list.Items, claim)
		return len(name) + len(raw), nil
	})
	return list, err
}
