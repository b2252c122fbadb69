package rest

import (
	"errors"
	"net/http"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// New returns the handler that serves service and operator.
func New(service agent.Service, operator layout.Operator, o Options) (http.Handler, error) {
	if service == nil || operator == nil {
		return nil, errors.New("rest: a service and an operator are needed")
	}
	f := newAPI(service, operator, o)
	routeCommits(f)
	routeReads(f)
	routeValues(f)
	routeDeletions(f)
	routeCheckpoints(f)
	routeThreads(f)
	routeEntries(f)
	routeAgents(f)
	routeClaims(f)
	routeSessions(f)
	routeReplay(f)
	routeReviews(f)
	routeMemory(f)
	routeTimers(f)
	routeConversations(f)
	routeFiles(f)
	routeManagers(f)
	routeInstances(f)
	routeInstanceWatches(f)
	routePods(f)
	routeScopes(f)
	routeChanges(f)
	routeTokens(f)
	routeCluster(f)
	routePlacement(f)
	routeHistory(f)
	routeNode(f)
	routeHealth(f)
	f.routeDocument()
	return f, nil
}
