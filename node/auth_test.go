package node_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/client"
	"dormouse/config"
	"dormouse/fsm"
)

// newGuardedCluster is newSimCluster with nodes that ask for tokens. It returns the root token.
func newGuardedCluster(t *testing.T, size int) (w *simCluster, root string) {
	t.Helper()
	w = newSimCluster(t, 0)
	w.auth.Mode = config.AuthTokens
	w.found(size)
	return w, <-w.roots
}

func putWith(t *testing.T, c *client.Client) agent.Code {
	t.Helper()
	_, err := c.Commit(t.Context(), agent.Commit{Scope: "s", Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}}})
	return agent.CodeOf(err)
}

func getWith(t *testing.T, c *client.Client, stale bool) agent.Code {
	t.Helper()
	_, err := c.Read(t.Context(), agent.Reads{Scope: "s", Stale: stale, Reads: []agent.Read{&agent.GetValue{Key: "k"}}})
	return agent.CodeOf(err)
}

// A token works on all nodes once it was created through one, and on none once it was revoked.
func TestATokenIsValidFromItsCreationToItsRevocationOnEachNodeSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, root := newGuardedCluster(t, 3)
		admin := map[string]*client.Client{}
		for _, n := range []string{"n1", "n2", "n3"} {
			admin[n] = w.dialWith(t, root, true, n)
		}
		for round := range 5 {
			for _, creator := range []string{"n1", "n2", "n3"} {
				token, secret, err := admin[creator].CreateToken(t.Context(), agent.PutToken{
					Principal: "p", Grants: []agent.Grant{{Scopes: []string{"s"}, Verbs: []agent.Verb{agent.VerbRead, agent.VerbWrite}}},
				})
				if err != nil {
					t.Fatal(err)
				}
				users := []*client.Client{}
				for _, n := range []string{"n3", "n2", "n1"} {
					c := w.dialWith(t, secret, true, n)
					if put, get := putWith(t, c), getWith(t, c, false); put != "" || get != "" {
						t.Fatalf("round %d: a token from %s, through %s: put %q, get %q", round, creator, n, put, get)
					}
					users = append(users, c)
				}
				if existed, err := admin[name(round%3)].RevokeToken(t.Context(), token.ID); err != nil || !existed {
					t.Fatal(existed, err)
				}
				for _, c := range users {
					if put, get := putWith(t, c), getWith(t, c, false); put != agent.CodeUnauthenticated || get != agent.CodeUnauthenticated {
						t.Fatalf("round %d: a revoked token: put %q, get %q", round, put, get)
					}
				}
			}
		}
		w.agree()
	})
}

// A token outlives the leader, and a node without a leader still knows it.
func TestATokenOutlivesTheLeaderSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, root := newGuardedCluster(t, 3)
		follower := w.follower().name
		c := w.dialWith(t, root, true, follower)
		if code := putWith(t, c); code != "" {
			t.Fatal(code)
		}
		for n := range w.awake {
			if n != follower {
				w.isolate(n)
			}
		}
		time.Sleep(5 * time.Second)
		if code := getWith(t, c, true); code != "" {
			t.Errorf("a stale read without a leader: %q", code)
		}
		if code := getWith(t, w.dialWith(t, access.NewSecret(), true, follower), true); code == "" || code == agent.CodeForbidden {
			t.Errorf("a stale read with a token that the node cannot check: %q", code)
		}
		w.heal()
		w.await("the cluster to serve again", func() bool { return putWith(t, c) == "" })
		if len(w.roots) != 0 {
			t.Error("a second root token was shown")
		}
	})
}

func TestTheRootTokenFileSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 0)
		file := filepath.Join(t.TempDir(), "root")
		w.auth = config.Auth{Mode: config.AuthTokens, RootTokenFile: file}
		w.found(1)
		written := <-w.roots
		if stored, err := access.ReadSecretFile(file); err != nil || stored != written {
			t.Fatalf("%v", err)
		}
		if code := putWith(t, w.dialWith(t, written, true, "n1")); code != "" {
			t.Fatal(code)
		}
		// Later starts change nothing, whatever the file holds.
		w.sleep("n1")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		w.start("n1")
		w.await("n1", func() bool { return putWith(t, w.dialWith(t, written, true, "n1")) == "" })
		time.Sleep(time.Second)
		if _, err := os.Stat(file); !os.IsNotExist(err) || len(w.roots) != 0 {
			t.Errorf("another root token was made: %v", err)
		}
	})
}

func TestATokenInTheRootTokenFileBecomesTheRootTokenSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 0)
		file, secret := filepath.Join(t.TempDir(), "root"), access.NewSecret()
		if err := access.WriteSecretFile(file, secret); err != nil {
			t.Fatal(err)
		}
		w.auth = config.Auth{Mode: config.AuthTokens, RootTokenFile: file}
		w.found(3)
		<-w.roots
		who, err := w.dialWith(t, secret, true, "n2").WhoAmI(t.Context())
		if err != nil || who.Name != "root" || who.TokenID != agent.HashToken(secret).TokenID() {
			t.Errorf("%+v, %v", who, err)
		}
	})
}

// Below its feature level no token exists, and none is made.
func TestTokensWaitForTheirFeatureLevelSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 0)
		w.level, w.auth.Mode = fsm.TokensLevel-1, config.AuthTokens
		w.found(1)
		time.Sleep(5 * time.Second)
		if len(w.roots) != 0 {
			t.Error("a root token below the feature level")
		}
		put := &agent.PutToken{Hash: agent.HashToken("x"), Principal: "p", Grants: agent.Everything()}
		for what, c := range map[string]agent.Commit{
			"put_token": {Ops: []agent.Op{put}}, "revoke_token": {Ops: []agent.Op{&agent.RevokeToken{ID: "x"}}},
			"a token": {Token: "tok_x", Ops: []agent.Op{&agent.PutValue{Key: "k"}}},
		} {
			if _, err := w.leader().Store().Commit(t.Context(), c); agent.CodeOf(err) != agent.CodeUnavailable {
				t.Errorf("%s: %v", what, err)
			}
		}
		w.sleep("n1")
		w.level = 0
		w.start("n1")
		if root := <-w.roots; putWith(t, w.dialWith(t, root, true, "n1")) != "" {
			t.Error("the root token does not work")
		}
	})
}

// A review that names deciders is decided by them only.
func TestAReviewIsDecidedByThePrincipalsItNamesSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 0)
		w.auth.Mode = config.AuthTokens
		w.found(1)
		admin := w.dialWith(t, <-w.roots, true, "n1")
		as := func(principal string) *client.Client {
			t.Helper()
			_, secret, err := admin.CreateToken(t.Context(), agent.PutToken{
				Principal: principal, Grants: []agent.Grant{{Scopes: []string{agent.DefaultScope}, Verbs: []agent.Verb{agent.VerbRead, agent.VerbDecide}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			return w.dialWith(t, secret, true, "n1")
		}
		ada, eve := as("ada"), as("eve")
		commit := func(c *client.Client, op agent.Op) (agent.OpResult, error) {
			result, err := c.Commit(t.Context(), agent.Commit{Ops: []agent.Op{op}})
			if err != nil {
				return nil, err
			}
			return result.Results[0], nil
		}
		if _, err := commit(admin, &agent.PutSession{Session: "s", Agent: "a"}); err != nil {
			t.Fatal(err)
		}
		claimed, err := commit(admin, &agent.ClaimSession{Session: "s", Owner: "w", Request: &agent.SessionRequest{ID: "q"}})
		if err != nil {
			t.Fatal(err)
		}
		lease := claimed.(*agent.SessionResult).Session.Lease
		if _, err := commit(admin, &agent.CheckpointSession{
			Session: "s", LeaseID: lease.LeaseID, Owner: "w", Snapshot: agent.SessionSnapshot{ID: "one", Cursor: agent.Cursor{Phase: "review"}, TurnState: agent.JSON(`{}`)},
			Reviews: []agent.ReviewDraft{{ID: "r", Deciders: []string{"ada"}}},
		}); err != nil {
			t.Fatal(err)
		}
		decide := &agent.DecideReview{Review: "r", Decision: agent.DecideApprove, By: "ada"}
		for name, c := range map[string]*client.Client{"eve": eve, "root": admin} {
			if _, err := commit(c, decide); agent.CodeOf(err) != agent.CodeForbidden {
				t.Errorf("%s decides: %v", name, err)
			}
		}
		if _, err := commit(ada, decide); err != nil {
			t.Errorf("ada decides: %v", err)
		}
	})
}

// A host reads and commits with a token of its own.
func TestAHostRunsInstancesWithItsTokenSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 0)
		w.auth.Mode = config.AuthTokens
		w.found(1)
		admin := w.dialWith(t, <-w.roots, true, "n1")
		put := &agent.PutManager{Manager: agent.Manager{Name: "tallies", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "tally"}, Untracked: true}}
		if _, err := admin.Commit(t.Context(), agent.Commit{Ops: []agent.Op{put}}); err != nil {
			t.Fatal(err)
		}
		_, secret, err := admin.CreateToken(t.Context(), agent.PutToken{
			Principal: "host", Grants: []agent.Grant{{Scopes: []string{agent.DefaultScope}, Verbs: []agent.Verb{agent.VerbRead, agent.VerbWrite, agent.VerbRun}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		w.hostToken = secret
		w.startHost("h1", recordingHandlers("tally", 1))
		signal := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			ref := agent.InstanceRef{Scope: agent.DefaultScope, Manager: "tallies", Key: "k"}
			_, err := admin.Instances().Signal(ctx, ref, agent.Signal{Type: "add", Data: agent.JSON(`{}`)})
			return err
		}
		w.await("a turn of the host", func() bool { return signal() == nil })
		entries, err := admin.Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.ListThreads{}}})
		if err != nil || len(entries.Answers[0].Found.(*agent.ThreadList).Items) == 0 {
			t.Fatalf("no turn was stored: %+v, %v", entries, err)
		}
	})
}
