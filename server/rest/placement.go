package rest

import (
	"net/http"
	"strconv"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routePlacement(f *web.API) {
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/placement", ID: "get-placement", Tag: "cluster",
		Summary: "Each node's share of the partitions, and the moves under way, as this node sees it", Answers: document.PlacementShares{},
	}, placement)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/placement/partitions", ID: "map-placement", Tag: "cluster",
		Summary: "The owner of each partition, and the newest changes, as this node sees them", Answers: document.PlacementMap{},
	}, placementMap)
	web.Register(f, web.Route{
		Method: http.MethodPut, Path: "/v1/placement/partitions/{partition}", ID: "pin-partition", Tag: "cluster",
		Summary:    "Move a partition to a member, and keep it there until the pin is removed, or the member is drained or leaves",
		BodyNeeded: true, Answers: document.Pinned{},
	}, pinPartition)
	web.Register(f, web.Route{
		Method: http.MethodDelete, Path: "/v1/placement/partitions/{partition}", ID: "unpin-partition", Tag: "cluster",
		Summary: "Remove the pin of a partition, which is placed as others are from then on", Answers: document.Pinned{},
	}, unpinPartition)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/placement/{manager}/{key}", ID: "explain-placement", Tag: "cluster",
		Summary: "The owner of a key's instance, and the reason, as this node sees it",
		Effect:  web.Scoped, Query: []string{"with", "without"}, Answers: document.PlacementAnswer{},
	}, explainPlacement)
}

func placement(c *web.Request, _ *web.None) error {
	found, err := c.API.Operator.Placement(c.Context, layout.PlacementQuery{})
	if err != nil {
		return web.ReadOutcome(err)
	}
	c.At(found.Index)
	return c.Answer(web.Reply{Body: document.PlacementSharesOf(found)})
}

// mapEvents is the number of changes that the map of partitions shows.
const mapEvents = 50

func placementMap(c *web.Request, _ *web.None) error {
	found, err := c.API.Operator.Placement(c.Context, layout.PlacementQuery{Owners: true, Events: mapEvents})
	if err != nil {
		return web.ReadOutcome(err)
	}
	c.At(found.Index)
	return c.Answer(web.Reply{Body: document.PlacementMapOf(found)})
}

func explainPlacement(c *web.Request, _ *web.None) error {
	found, err := c.API.Operator.Placement(c.Context, layout.PlacementQuery{
		Scope: c.Scope, Manager: c.ID("manager"), Key: c.ID("key"), With: c.Text("with"), Without: c.Text("without"), Events: layout.PlacementEventsMax,
	})
	if err != nil {
		return web.ReadOutcome(err)
	}
	c.At(found.Index)
	if found.Partition == nil {
		return agent.Errorf(agent.CodeInternal, "the placement has no partition")
	}
	return c.Answer(web.Reply{Body: document.PlacementAnswerOf(found)})
}

func pinPartition(c *web.Request, body *document.PinBody) error {
	if body.Node == "" {
		return agent.Invalid("node", "name the member that is to own the partition")
	}
	return setPin(c, body.Node)
}

func unpinPartition(c *web.Request, _ *web.None) error { return setPin(c, "") }

func setPin(c *web.Request, node string) error {
	text := c.ID("partition")
	n, err := strconv.Atoi(text)
	if err != nil {
		return agent.Invalid("partition", "partition = %q is not a number from 0 to %d", text, layout.Partitions-1)
	}
	if err := c.API.Operator.PinPartition(c.Context, n, node); err != nil {
		return web.WriteOutcome(err)
	}
	return c.Answer(web.Reply{Body: document.Pinned{Partition: n, Node: node}})
}
