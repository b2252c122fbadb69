package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
)

func readClaim(r reader, q *agent.GetClaim) (agent.Found, error) {
	claim, err := claimIn(r, q.Claim)
	if err == nil && !claim.Held() {
		err = agent.Errorf(agent.CodeNotFound, "nobody holds claim %q", q.Claim)
	}
	return &claim, err
}

// claimIn is how a claim stands as of the reader's entry; one that has lapsed has no
// holder, whether it has been swept or not.
func claimIn(r reader, name string) (agent.Claim, error) {
	raw, err := r.Get(kv.IDKey(kv.KindClaim, r.scope, name))
	if err != nil || raw == nil {
		return agent.Claim{Name: name}, err
	}
	o, err := readOpening(r.engine)
	if err != nil {
		return agent.Claim{}, err
	}
	return claimOf(r, name, raw, o)
}

func claimOf(r reader, name string, raw []byte, o opening) (agent.Claim, error) {
	row, err := decodeClaimRow(name, raw)
	if err != nil {
		return agent.Claim{}, err
	}
	over := lapsed(row, o, r.progress.tick)
	if !over {
		if over, err = leaseGone(r, r.scope, name, r.progress.wall); err != nil {
			return agent.Claim{}, err
		}
	}
	if over {
		row = nil
	}
	return standing(name, row, o, r.progress), nil
}

func readClaims(r reader, q *agent.ListClaims) (agent.Found, error) {
	o, err := readOpening(r.engine)
	if err != nil {
		return nil, err
	}
	list := &agent.ClaimList{}
	list.Next, err = r.eachInPage(kv.ScopeKey(kv.KindClaim, r.scope), q.Page, func(name string, raw []byte) (int, error) {
		claim, err := claimOf(r, name, raw, o)
		if err != nil || !claim.Held() {
			return 0, err
		}
		list.Items = append(list.Items, claim)
		return len(name) + len(raw), nil
	})
	return list, err
}
