package client_test

import (
	"testing"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/agenttest"
	"dormouse/client"
	"dormouse/node/nodetest"
)

// The whole contract holds with a token.
func TestTheConformanceSuitePassesWithTLSTokensAndQuotas(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Auth: true, Loopback: true, TLSDir: t.TempDir()})
	// Every limit is set, and wide enough for each case.
	if err := n.PutDefaultPolicy(t.Context(), agent.Policy{
		KeysMax: 1 << 20, BytesMax: 1 << 32, AgentsMax: 1 << 20, ThreadsMax: 1 << 20, EntriesMax: 1 << 24, TimersMax: 1 << 20,
		RequestsPerSecond: 1 << 20, BytesPerSecond: 1 << 32, WatchesMax: 1 << 12, AwakeMax: 1 << 12,
	}); err != nil {
		t.Fatal(err)
	}
	agenttest.Run(t, func(t *testing.T) agent.Service {
		t.Helper()
		t.Parallel()
		return n
	})
}

func TestACallWithoutATokenIsUnauthenticatedAtOnce(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Auth: true, Loopback: true})
	for name, token := range map[string]string{"none": "", "wrong": access.NewSecret()} {
		c, err := client.Dial(client.Options{Endpoints: []string{n.GRPCAddr()}, Token: token, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, commit := c.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k"}}})
		_, read := c.Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "k"}}})
		_, status := c.Status(t.Context())
		_, lookup := c.Instances().Lookup(t.Context(), agent.InstanceRef{Manager: "m", Key: "k"})
		for what, err := range map[string]error{"commit": commit, "read": read, "status": status, "lookup": lookup} {
			if agent.CodeOf(err) != agent.CodeUnauthenticated || agent.OutcomeOf(err) != agent.Refused {
				t.Errorf("%s with token %s: %v", what, name, err)
			}
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("four calls with token %s took %v", name, took)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestATokenIsNotSentInTheClear(t *testing.T) {
	secret := access.NewSecret()
	for addr, ok := range map[string]bool{"127.0.0.1:7601": true, "localhost:7601": true, "[::1]:7601": true, "10.0.0.1:7601": false, "db:7601": false} {
		c, err := client.Dial(client.Options{Endpoints: []string{addr}, Token: secret})
		if (err == nil) != ok {
			t.Errorf("%s: %v", addr, err)
		}
		if err == nil {
			_ = c.Close()
		}
	}
	if _, err := client.Dial(client.Options{Token: "dorm_wrong"}); err == nil {
		t.Error("a malformed token is accepted")
	}
}

func TestTokensThroughTheClient(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Auth: true, Loopback: true})
	created, secret, err := n.CreateToken(t.Context(), agent.PutToken{
		Principal: "ci", Grants: []agent.Grant{{Scopes: []string{"team-*"}, Verbs: []agent.Verb{agent.VerbRead, agent.VerbWrite}}},
	})
	if err != nil || created.CreatedBy != "root" {
		t.Fatalf("%+v, %v", created, err)
	}
	c, err := client.Dial(client.Options{Endpoints: []string{n.GRPCAddr()}, Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // the test is over
	if who, err := c.WhoAmI(t.Context()); err != nil || who.Name != "ci" || who.TokenID != created.ID || len(who.Grants) != 1 {
		t.Errorf("%+v, %v", who, err)
	}
	put := func(scope string) error {
		_, err := c.Commit(t.Context(), agent.Commit{Scope: scope, Ops: []agent.Op{&agent.PutValue{Key: "k"}}})
		return err
	}
	if err := put("team-a"); err != nil {
		t.Error(err)
	}
	if err := put("other"); agent.CodeOf(err) != agent.CodeForbidden {
		t.Errorf("a write in another scope: %v", err)
	}
	if existed, err := n.RevokeToken(t.Context(), created.ID); err != nil || !existed {
		t.Fatal(existed, err)
	}
	if err := put("team-a"); agent.CodeOf(err) != agent.CodeUnauthenticated { // on the same stream
		t.Errorf("a write with a revoked token: %v", err)
	}
	if _, err := c.Read(t.Context(), agent.Reads{Scope: "team-a", Reads: []agent.Read{&agent.GetValue{Key: "k"}}}); agent.CodeOf(err) != agent.CodeUnauthenticated {
		t.Errorf("a read with a revoked token: %v", err)
	}
}
