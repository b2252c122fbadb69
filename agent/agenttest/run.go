package agenttest

import (
	"slices"
	"testing"

	"dormouse/agent"
)

// Case is one claim about a Service. It takes care of names itself: several
// cases may use one service at once.
type Case struct {
	Name string
	Run  func(t *testing.T, service agent.Service)
}

// Run runs all cases as subtests, each on what open returns for it: a new
// service, or one that all of them share. An open that calls t.Parallel makes
// the cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) agent.Service) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, open(t)) })
	}
}

// Cases lists all cases, for those who cannot use Run: in a bubble of
// testing/synctest there are no subtests.
func Cases() []Case {
	var all []Case
	for _, group := range [][]claim{
		checkpointClaims, threadClaims, entryClaims, duplicateClaims, readClaims,
		hibernateClaims, pointerClaims, patchClaims, historyClaims,
		commitClaims, requestClaims, incarnationClaims, compactClaims, forkClaims,
		valueClaims, listClaims, scopeClaims, watchClaims, concurrentClaims,
		holdingClaims, fenceClaims, managerClaims, timerClaims, cronClaims, memoryClaims, recallClaims,
		sessionClaims, classicClaims, reviewClaims, busyClaims, changeClaims,
		conversationClaims, messageClaims, fileClaims,
		agentForkClaims, eraseClaims, ttlClaims,
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

// claim is a case as this package writes it.
type claim struct {
	name  string
	prove func(k *kit)
}
