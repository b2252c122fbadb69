package fsm_test

import (
	"fmt"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm/kv"
)

// reader returns an op that creates a token for a principal.
func reader(principal, secret string) *agent.PutToken {
	return &agent.PutToken{
		Hash: agent.HashToken(secret), Principal: principal,
		Grants: []agent.Grant{{Scopes: []string{"s"}, Verbs: []agent.Verb{agent.VerbWrite}}},
	}
}

// as applies a commit with a token.
func (r *subject) as(token string, ops ...agent.Op) *agent.Error {
	r.tb.Helper()
	return r.batch(agent.Commit{Principal: "p", Token: token, Ops: ops})[0].Err
}

func (r *subject) unauthenticated(token string) {
	r.tb.Helper()
	if err := r.as(token, &agent.PutValue{Key: "k"}); agent.CodeOf(err) != agent.CodeUnauthenticated || !err.Final || agent.OutcomeOf(err) != agent.Refused {
		r.tb.Fatalf("a commit with token %s: %v", token, err)
	}
}

// Nodes keep the tokens that they have found for as long as TokensChange stays. A view that shows the state after
// a revocation must not be older than the change: a node would serve a read of that state to the revoked token.
func TestNoViewShowsARevocationBeforeItsChange(t *testing.T) {
	r := recording(t)
	for i := range 500 {
		id := do[*agent.TokenResult](r, reader("p", fmt.Sprint(i))).Token.ID
		kept, settled := r.machine.TokensChange()
		if !settled {
			t.Fatal("no entry is being applied")
		}
		reading, early := make(chan struct{}), make(chan bool, 1)
		go func() {
			close(reading)
			for {
				view := r.machine.View()
				_, found, err := view.TokenOf(id)
				view.Close()
				now, _ := r.machine.TokensChange()
				if !found || err != nil {
					early <- err != nil || now == kept
					return
				}
			}
		}()
		<-reading
		do[*agent.DeleteResult](r, &agent.RevokeToken{ID: id})
		if <-early {
			t.Fatalf("revocation %d was shown before the change", i)
		}
	}
}

func TestACommitIsRefusedFromTheRevocationOfItsTokenOn(t *testing.T) {
	r := recording(t)
	id := do[*agent.TokenResult](r, reader("p", "one")).Token.ID
	put := agent.Commit{Principal: "p", Token: id, Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("1")}}}
	revoke := agent.Commit{Ops: []agent.Op{&agent.RevokeToken{ID: id}}}
	change, _ := r.machine.TokensChange()
	d := r.batch(put, revoke, put) // in one entry
	if d[0].Err != nil || d[1].Err != nil || agent.CodeOf(d[2].Err) != agent.CodeUnauthenticated {
		t.Fatalf("before: %v, revocation: %v, after: %v", d[0].Err, d[1].Err, d[2].Err)
	}
	if now, settled := r.machine.TokensChange(); now == change || !settled {
		t.Error("nodes do not learn of the revocation")
	}
	r.unauthenticated(id)
	// A retry of a request that was applied before still gets its answer.
	other := do[*agent.TokenResult](r, reader("p", "two")).Token.ID
	put.Token, put.Request = other, agent.Request{Client: "c", Seq: 1}
	first := r.batch(put)[0]
	do[*agent.DeleteResult](r, &agent.RevokeToken{ID: other})
	if again := r.batch(put)[0]; first.Err != nil || again.Err != nil || again.Result.Index != first.Result.Index {
		t.Errorf("%v, then %v", first, again)
	}
}

func TestATokenExpiresByTheTimeOfTheLog(t *testing.T) {
	r := recording(t)
	op := reader("p", "one")
	op.TTL = time.Minute
	token := do[*agent.TokenResult](r, op).Token
	if want := r.wall + time.Minute.Milliseconds(); token.ExpiresAt != want {
		t.Fatalf("it expires at %d, want %d", token.ExpiresAt, want)
	}
	if _, wall := r.machine.Due(); wall != token.ExpiresAt {
		t.Errorf("the leader proposes an entry at %d, want %d", wall, token.ExpiresAt)
	}
	if err := r.after(time.Minute-time.Millisecond).as(token.ID, &agent.PutValue{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	r.after(time.Millisecond).unauthenticated(token.ID)
	r.missing(agent.CodeNotFound, &agent.GetToken{ID: token.ID})
	if n := r.rows(kv.KindToken) + r.rows(kv.KindTokenPrincipal); n != 0 {
		t.Errorf("%d rows of the expired token are left", n)
	}
	do[*agent.TokenResult](r, op) // the same secret may be used again
}

func TestAFoundingTokenIsCreatedOnce(t *testing.T) {
	r := recording(t)
	root := reader("root", "one")
	root.Founding = true
	id := do[*agent.TokenResult](r, root).Token.ID
	do[*agent.TokenResult](r, root) // the outcome of the first attempt may be unknown
	other := reader("root", "two")
	other.Founding = true
	r.refuse(agent.CodeAlreadyExists, other)
	do[*agent.DeleteResult](r, &agent.RevokeToken{ID: id})
	r.refuse(agent.CodeAlreadyExists, other)
	v := r.machine.View()
	defer v.Close()
	if founded, err := v.TokensFounded(); !founded || err != nil {
		t.Error(founded, err)
	}
}

func TestAClusterHasAtMostItsTokens(t *testing.T) {
	r := recording(t)
	const batch = 500
	for n := 0; n < agent.TokensMax; n += batch {
		ops := make([]agent.Op, batch)
		for i := range ops {
			ops[i] = reader(fmt.Sprintf("p%d", n+i), fmt.Sprintf("secret %d", n+i))
		}
		do[*agent.TokenResult](r, ops...)
	}
	last := reader("one too many", "last")
	if e := r.refusal(agent.CodeTooLarge, last); e.Limit != "tokens_max=10000" {
		t.Errorf("limit %q", e.Limit)
	}
	do[*agent.DeleteResult](r, &agent.RevokeToken{ID: agent.HashToken("secret 7").TokenID()})
	do[*agent.TokenResult](r, last)
	if n := r.rows(kv.KindToken); n != agent.TokensMax {
		t.Errorf("%d tokens, want %d", n, agent.TokensMax)
	}
}

func TestATokenIsFoundByItsSecretAlone(t *testing.T) {
	r := recording(t)
	do[*agent.TokenResult](r, reader("p", "one"))
	v := r.machine.View()
	defer v.Close()
	if found, ok, err := v.Token(agent.HashToken("one")); !ok || err != nil || found.Principal != "p" {
		t.Fatal(found, ok, err)
	}
	near := agent.HashToken("one")
	near[31]++ // the same id
	for _, hash := range []agent.TokenHash{near, agent.HashToken("two"), {}} {
		if found, ok, err := v.Token(hash); ok || err != nil {
			t.Errorf("hash %x finds %+v, %v", hash, found, err)
		}
	}
	clash := reader("p", "one")
	clash.Hash = near
	r.refuse(agent.CodeAlreadyExists, clash)
}

// Tokens belong to no scope: deleting the scope of the commit that created them leaves them.
func TestTokensStayWhenAScopeIsDeleted(t *testing.T) {
	r := recording(t)
	token := do[*agent.TokenResult](r, reader("p", "one")).Token
	if d := r.batch(agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k"}}}); d[0].Err != nil {
		t.Fatal(d[0].Err)
	}
	do[*agent.DeleteResult](r, &agent.DeleteScope{})
	if err := r.as(token.ID, &agent.PutValue{Key: "k"}); err != nil {
		t.Error(err)
	}
}

// An import of a scope cannot bring tokens with it.
func TestAnImportBringsNoTokens(t *testing.T) {
	source := recording(t)
	do[*agent.ValueResult](source, &agent.PutValue{Key: "v"})
	token := do[*agent.TokenResult](source, reader("p", "one")).Token
	e := exportOf(source, agent.DefaultScope)
	for _, row := range e.rows {
		if k := string(row.Key[:1]); k == kv.KindToken || k == kv.KindTokenPrincipal {
			t.Errorf("the export has a row of kind %x", k)
		}
	}
	r := recording(t)
	do[*agent.ImportResult](r, e.begin("i"))
	for _, kind := range []string{kv.KindToken, kv.KindTokenPrincipal, kv.KindSystem} {
		forged := agent.AppendScopeRow(nil, agent.ScopeRow{Key: []byte(kind + token.ID + kv.Separator), Value: []byte("x")})
		r.refuse(agent.CodeInvalid, &agent.ImportScope{ID: "i", Rows: forged})
	}
	if n := r.rows(kv.KindToken); n != 0 {
		t.Errorf("%d tokens were imported", n)
	}
}
