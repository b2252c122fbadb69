package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
)

func readClaim(r reader, q *agent.GetClaim) (agent.Found, error) {
	claim, err := r.Claim(r.scope, q.Claim)
	if err == nil && !claim.Held() {
		err = agent.Errorf(agent.CodeNotFound, "nobody holds claim %q", q.Claim)
	}
	return &claim, err
}

// Claim is how a claim stands as of the view's entry; one that has lapsed is
// held by nobody, whether it has been swept or not.
func (v *View) Claim(scope, name string) (agent.Claim, error) {
	if v.err != nil {
		return agent.Claim{}, v.err
	}
	raw, err := v.Get(kv.IDKey(kv.KindClaim, scope, name))
	if err != nil || raw == nil {
		return agent.Claim{Name: name}, err
	}
	o, err := readOpening(v.view)
	if err != nil {
		return agent.Claim{}, err
	}
	return v.standing(scope, name, raw, o)
}

func (v *View) standing(scope, name string, raw []byte, o opening) (agent.Claim, error) {
	row, err := decodeClaimRow(name, raw)
	if err != nil {
		return agent.Claim{}, err
	}
	over := lapsed(row, o, v.progress.tick)
	if !over {
		if over, err = leaseGone(v, scope, name, v.progress.wall); err != nil {
			return agent.Claim{}, err
		}
	}
	if over {
		row = nil
	}
	return standing(name, row, o, v.progress), nil
}

func readClaims(r reader, q *agent.ListClaims) (agent.Found, error) {
	o, err := readOpening(r.view)
	if err != nil {
		return nil, err
	}
	list := &agent.ClaimList{}
	list.Next, err = r.eachInPage(kv.ScopeKey(kv.KindClaim, r.scope), q.Page, func(name string, raw []byte) (int, error) {
		claim, err := r.standing(r.scope, name, raw, o)
		if err != nil || !claim.Held() {
			return 0, err
		}
		list.Items = append(list.Items, claim)
		return len(name) + len(raw), nil
	})
	return list, err
}
