package memstore_test

import (
	"testing"
	"testing/synctest"

	"dormouse/agent"
	"dormouse/agent/agenttest"
	"dormouse/agent/memstore"
)

// The store must pass the conformance suite, all cases at once on one store.
func TestConformance(t *testing.T) {
	shared := memstore.New()
	agenttest.Run(t, func(t *testing.T) agent.Service {
		t.Helper()
		t.Parallel()
		return shared
	})
}

// The suite must also run in a bubble, in virtual time.
func TestConformanceInVirtualTime(t *testing.T) {
	for _, c := range agenttest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.Run(t, memstore.New()) })
		})
	}
}
