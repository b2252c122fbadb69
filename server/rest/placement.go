package rest

import (
	"net/http"
	"strconv"

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
		method: http.MethodPut, path: "/v1/placement/partitions/{partition}", id: "pin-partition", tag: "cluster",
		summary:    "Move a partition to a member, and keep it there until the pin is removed, or the member is drained or leaves",
		bodyNeeded: true, answers: document.Pinned{},
	}, pinPartition)
	register(f, route{
		method: http.MethodDelete, path: "/v1/placement/partitions/{partition}", id: "unpin-partition", tag: "cluster",
		summary: "Remove the pin of a partition, which is placed as others are from then on", answers: document.Pinned{},
	}, unpinPartition)
	register(f, route{
		method: http.MethodGet, path: "/v1/placement/{manager}/{key}", id: "explain-placement", tag: "cluster",
		summary: "The owner of a key's instance, and the reason, as this node sees it",
		effect:  scoped, query: []string{"with", "without"}, answers: document.PlacementAnswer{},
	}, explainPlacement)
}

func placement(c *request, _ *none) error {
	found, err := c.api.operator.Placement(c.ctx, layout.PlacementQuery{})
	if err != nil {
		return readOutcome(err)
	}
	c.at(found.Index)
	return c.answer(reply{body: document.PlacementSharesOf(found)})
}

// mapEvents is the number of changes that the map of partitions shows.
const mapEvents = 50

func placementMap(c *request, _ *none) error {
	found, err := c.api.operator.Placement(c.ctx, layout.PlacementQuery{Owners: true, Events: mapEvents})
	if err != nil {
		return readOutcome(err)
	}
	c.at(found.Index)
	return c.answer(reply{body: document.PlacementMapOf(found)})
}

func explainPlacement(c *request, _ *none) error {
	found, err := c.api.operator.Placement(c.ctx, layout.PlacementQuery{
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

func pinPartition(c *request, body *document.PinBody) error {
	if body.Node == "" {
		return agent.Invalid("node", "name the member that is to own the partition")
	}
	return setPin(c, body.Node)
}

func unpinPartition(c *request, _ *none) error { return setPin(c, "") }

func setPin(c *request, node string) error {
	text := c.id("partition")
	n, err := strconv.Atoi(text)
	if err != nil {
		return agent.Invalid("partition", "partition = %q is not a number from 0 to %d", text, layout.Partitions-1)
	}
	if err := c.api.operator.PinPartition(c.ctx, n, node); err != nil {
		return writeOutcome(err)
	}
	return c.answer(reply{body: document.Pinned{Partition: n, Node: node}})
}
