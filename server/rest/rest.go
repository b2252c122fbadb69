package rest

import (
	"errors"
	"net/http"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/server/rest/web"
)

// Options configure the API. The zero value of a field is its default.
type Options = web.Options

// Server returns an http.Server with the API's limits, for a handler from New. On shutdown watches
// end at once, and calls may finish.
func Server(handler http.Handler) *http.Server { return web.Server(handler) }

// New returns the handler that serves service and operator.
func New(service agent.Service, operator layout.Operator, o Options) (http.Handler, error) {
	if service == nil || operator == nil {
		return nil, errors.New("rest: a service and an operator are needed")
	}
	f := web.NewAPI(service, operator, o)
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
	f.RouteDocument()
	return f, nil
}
