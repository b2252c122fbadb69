package agenttest_test

import (
	"testing"
	"testing/synctest"

	"dormouse/agent/agenttest"
)

func TestSuiteRunsInABubble(t *testing.T) {
	for _, c := range agenttest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.Run(t, newReference()) })
		})
	}
}
