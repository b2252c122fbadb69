package client_test

import (
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/client"
)

func TestOpsUnderOneRequestIDAreAppliedOnce(t *testing.T) {
	store := memstore.New()
	scope := client.In(store, "s")
	claim, err := scope.TakeClaim(t.Context(), agent.TakeClaim{Claim: "c", Holder: "a", TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	put := func(scope client.Scope, seq uint64) (agent.Result, error) {
		return scope.ApplyAs(t.Context(), agent.Request{Client: "me", Seq: seq}, &agent.PutValue{Key: "k", Bytes: []byte("v")})
	}
	first, err := put(scope, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, err := put(client.In(store, "s"), 1)
	if err != nil || again.Index != first.Index {
		t.Errorf("sent again: %+v, %v; the first was %+v", again, err, first)
	}
	if _, err := put(scope.Under(claim), 2); err != nil {
		t.Error(err)
	}
	if v, err := scope.GetValue(t.Context(), "k"); err != nil || v.Revision != 2 {
		t.Errorf("the value is %+v, %v", v, err)
	}
	if _, err := scope.ReleaseClaim(t.Context(), agent.ReleaseClaim{Claim: "c", Holder: "a", Epoch: claim.Epoch}); err != nil {
		t.Fatal(err)
	}
	if _, err := put(scope.Under(claim), 3); agent.CodeOf(err) != agent.CodeFenced {
		t.Errorf("under a released claim: %v", err)
	}
}
