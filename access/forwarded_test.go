package access_test

import (
	"testing"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/memstore"
)

// tokensByID are the tokens that a leader knows.
type tokensByID map[string]agent.Token

func (t tokensByID) TokenOf(id string) (agent.Token, bool) { found, ok := t[id]; return found, ok }

// The leader checks the rights of a forwarded commit again, by its own table.
func TestTheLeaderChecksAForwardedCommitAgain(t *testing.T) {
	hash := agent.HashToken("x")
	grants := []agent.Grant{{Scopes: []string{"s"}, Verbs: []agent.Verb{agent.VerbWrite}}}
	store := memstore.New()
	if _, err := store.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutToken{Hash: hash, Principal: "p", Grants: grants}}}); err != nil {
		t.Fatal(err)
	}
	var refused []string
	known := tokensByID{hash.TokenID(): {ID: hash.TokenID(), Principal: "p", Grants: grants}}
	f := access.NewForwarded(store, known, func(c *agent.Commit, _ error) { refused = append(refused, c.Principal) })
	put := func(principal, token, scope string, op agent.Op) agent.Commit {
		return agent.Commit{Scope: scope, Principal: principal, Token: token, Ops: []agent.Op{op}}
	}
	value := &agent.PutValue{Key: "k"}
	for name, c := range map[string]struct {
		commit agent.Commit
		code   agent.Code
	}{
		"allowed":                     {put("p", hash.TokenID(), "s", value), ""},
		"of the node itself":          {put("", "", "s", value), ""},
		"without a token":             {put("of a certificate", "", "s", value), ""},
		"another verb":                {put("p", hash.TokenID(), "s", &agent.TakeClaim{Claim: "c", Holder: "h"}), agent.CodeForbidden},
		"another scope":               {put("p", hash.TokenID(), "t", value), agent.CodeForbidden},
		"another principal":           {put("q", hash.TokenID(), "s", value), agent.CodeUnauthenticated},
		"a token that does not exist": {put("p", "tok_none", "s", value), agent.CodeUnauthenticated}, // by the store
	} {
		refused = nil
		_, err := f.Commit(t.Context(), c.commit)
		_, again := agent.Await(t.Context(), f, c.commit)
		if agent.CodeOf(err) != c.code || agent.CodeOf(again) != c.code {
			t.Errorf("%s: %v, %v", name, err, again)
		}
		if told := len(refused) == 2; told != (c.code != "" && c.commit.Token == hash.TokenID()) {
			t.Errorf("%s: %v", name, refused)
		}
	}
}
