package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/document"
)

func routePlacement(f *api) {
	register(f, route{
		method: http.MethodGet, path: "/v1/placement", id: "get-placement", tag: "cluster",
		summary: "Each node's share of the partitions, and the moves under way, as this node sees it", answers: document.PlacementShares{},
	}, placement)
	register(f, route{
		method: http.MethodGet, path: "/v1/placement/partitions", id: "map-placement", tag: "cluster",
		summary: "The owner of each partition, and the newest changes, as this node sees them", answers: document.PlacementMap{},
	}, placementMap)
	register(f, route{
		method: http.MethodGet, path: "/v1/placement/{manager}/{key}", id: "explain-placement", tag: "cluster",
		summary: "The owner of a key's instance, and the reason, as this node sees it",
		effect:  scoped, query: []string{"with", "without"}, answers: document.PlacementAnswer{},
	}, explainPlacement)
}

func placement(c *request, _ *none) error {
	found, err := c.api.operator.Placement(c.r.Context(), layout.PlacementQuery{})
	if err != nil {
		return readOutcome(err)
	}
	c.at(found.Index)
	return c.answer(reply{body: document.PlacementSharesOf(found)})
}

// mapEvents is the number of changes that the map of partitions shows.
const mapEvents = 50

func placementMap(c *request, _ *none) error {
	found, err := c.api.operator.Placement(c.r.Context(), layout.PlacementQuery{Owners: true, Events: mapEvents})
	if err != nil {
		return readOutcome(err)
	}
	c.at(found.Index)
	return c.answer(reply{body: document.PlacementMapOf(found)})
}

func explainPlacement(c *request, _ *none) error {
	found, err := c.api.operator.Placement(c.r.Context(), layout.PlacementQuery{
		Scope: c.scope, Manager: c.id("manager"), Key: c.id("key"), With: c.text("with"), Without: c.text("without"), Events: layout.PlacementEventsMax,
	})
	if err != nil {
		return readOutcome(err)
	}
	c.at(found.Index)
	if found.Partition == nil {
		return agent.Errorf(agent.CodeInternal, "the placement has no partition")
	}
	return c.answer(reply{body: document.PlacementAnswerOf(found)})
}
