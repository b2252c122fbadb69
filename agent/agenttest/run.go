package agenttest

import (
	"slices"
	"testing"

	"dormouse/agent"
)

// Case is one test of a Service. It creates unique names, so several cases may use one
// service concurrently.
type Case struct {
	Name string
	Run  func(t *testing.T, service agent.Service)
}

// Run runs all cases as subtests, each on the service that open returns: a new one, or
// one shared by all. If open calls t.Parallel, the cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) agent.Service) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, open(t)) })
	}
}

// Cases returns all cases, for callers that cannot use Run: a testing/synctest bubble
// has no subtests.
func Cases() []Case {
	var all []Case
	for _, group := range [][]claim{
		checkpointClaims, threadClaims, entryClaims, duplicateClaims, readClaims,
		hibernateClaims, pointerClaims, patchClaims, existsClaims, historyClaims,
		commitClaims, requestClaims, incarnationClaims, compactClaims, forkClaims,
		valueClaims, deletionClaims, listClaims, metadataClaims, scopeClaims, watchClaims, concurrentClaims,
		holdingClaims, fenceClaims, managerClaims, timerClaims, cronClaims, memoryClaims, recallClaims,
		sessionClaims, classicClaims, reviewClaims, busyClaims, changeClaims,
		conversationClaims, messageClaims, fileClaims,
		agentForkClaims, eraseClaims, ttlClaims, tokenClaims,
	} {
		for _, c := range group {
			all = append(all, Case{Name: c.name, Run: func(t *testing.T, service agent.Service) {
				t.Helper()
				c.prove(newKit(t, service))
			}})
		}
	}
	return slices.Clip(all)
}

// claim is the definition of a case.
type claim struct {
	name  string
	prove func(k *kit)
}
