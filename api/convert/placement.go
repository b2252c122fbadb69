package convert

import (
	"dormouse/agent/layout"
	apipb "dormouse/proto/api"
)

// PlacementQueryToProto converts a query of the placement.
func PlacementQueryToProto(q layout.PlacementQuery) *apipb.PlacementRequest {
	return &apipb.PlacementRequest{
		Scope: q.Scope, Manager: q.Manager, Key: q.Key, With: q.With, Without: q.Without, Events: uint64(max(q.Events, 0)), Owners: q.Owners,
	}
}

// PlacementQueryFromProto converts a query of the placement.
func PlacementQueryFromProto(q *apipb.PlacementRequest) layout.PlacementQuery {
	return layout.PlacementQuery{
		Scope: q.GetScope(), Manager: q.GetManager(), Key: q.GetKey(), With: q.GetWith(), Without: q.GetWithout(),
		Events: int(min(q.GetEvents(), layout.PlacementEventsMax+1)), Owners: q.GetOwners(),
	}
}

// PlacementToProto converts the placement of partitions.
func PlacementToProto(p *layout.Placement) *apipb.PlacementReport {
	out := &apipb.PlacementReport{Index: p.Index, Free: uint32(p.Free), Owners: p.Owners}
	for _, n := range p.Nodes {
		out.Nodes = append(out.Nodes, &apipb.PlacedNode{
			Node: n.Node, Zone: n.Zone, Weight: uint32(n.Weight), Leased: n.Leased,
			Owned: uint32(n.Owned), Draining: uint32(n.Draining), Coming: uint32(n.Coming), Host: n.Host, Handlers: n.Handlers, DrainedAt: n.DrainedAt,
		})
	}
	for _, m := range p.Moving {
		out.Moving = append(out.Moving, partitionToProto(m))
	}
	for _, e := range p.Events {
		change := &apipb.PlacementChange{
			Index: e.Index, Time: e.Time, Kind: string(e.Kind), From: e.From, To: e.To, Epoch: e.Epoch, Why: e.Why,
		}
		for _, n := range e.Partitions {
			change.Partitions = append(change.Partitions, uint32(n))
		}
		out.Events = append(out.Events, change)
	}
	if p.Partition != nil {
		out.Partition = partitionToProto(*p.Partition)
	}
	for _, c := range p.Candidates {
		out.Candidates = append(out.Candidates, &apipb.PlacementCandidate{Node: c.Node, Zone: c.Zone, Weight: uint32(c.Weight), Score: c.Score, Drained: c.Drained})
	}
	for _, pin := range p.Pins {
		out.Pins = append(out.Pins, &apipb.PlacementPin{Partition: uint32(pin.Partition), Node: pin.Node, Since: pin.Since})
	}
	if f := p.Forecast; f != nil {
		out.Forecast = &apipb.PlacementForecast{Moves: uint32(f.Moves), Owner: f.Owner}
	}
	return out
}

// PlacementFromProto converts the placement of partitions.
func PlacementFromProto(p *apipb.PlacementReport) layout.Placement {
	out := layout.Placement{Index: p.GetIndex(), Free: int(p.GetFree()), Owners: p.GetOwners()}
	for _, n := range p.GetNodes() {
		out.Nodes = append(out.Nodes, layout.PlacedNode{
			Node: n.GetNode(), Zone: n.GetZone(), Weight: int(n.GetWeight()), Leased: n.GetLeased(),
			Owned: int(n.GetOwned()), Draining: int(n.GetDraining()), Coming: int(n.GetComing()), Host: n.GetHost(), Handlers: n.GetHandlers(), DrainedAt: n.GetDrainedAt(),
		})
	}
	for _, m := range p.GetMoving() {
		out.Moving = append(out.Moving, partitionFromProto(m))
	}
	for _, e := range p.GetEvents() {
		event := layout.PlacementEvent{
			Index: e.GetIndex(), Time: e.GetTime(), Kind: layout.PlacementEventKind(e.GetKind()),
			From: e.GetFrom(), To: e.GetTo(), Epoch: e.GetEpoch(), Why: e.GetWhy(),
		}
		for _, n := range e.GetPartitions() {
			event.Partitions = append(event.Partitions, int(n))
		}
		out.Events = append(out.Events, event)
	}
	if p.GetPartition() != nil {
		one := partitionFromProto(p.GetPartition())
		out.Partition = &one
	}
	for _, c := range p.GetCandidates() {
		out.Candidates = append(out.Candidates, layout.PlacementCandidate{
			Node: c.GetNode(), Zone: c.GetZone(), Weight: int(c.GetWeight()), Score: c.GetScore(), Drained: c.GetDrained(),
		})
	}
	for _, pin := range p.GetPins() {
		out.Pins = append(out.Pins, layout.Pin{Partition: int(pin.GetPartition()), Node: pin.GetNode(), Since: pin.GetSince()})
	}
	if f := p.GetForecast(); f != nil {
		out.Forecast = &layout.PlacementForecast{Moves: int(f.GetMoves()), Owner: f.GetOwner()}
	}
	return out
}

func partitionToProto(p layout.Partition) *apipb.PlacedPartition {
	return &apipb.PlacedPartition{
		Partition: uint32(p.ID), Owner: p.Owner, Life: p.Incarnation, Epoch: p.Epoch, State: string(p.State), To: p.To,
		SinceIndex: p.SinceIndex, Since: p.Since, Why: p.Why,
	}
}

func partitionFromProto(p *apipb.PlacedPartition) layout.Partition {
	return layout.Partition{
		ID: int(p.GetPartition()), Owner: p.GetOwner(), Incarnation: p.GetLife(), Epoch: p.GetEpoch(),
		State: layout.PartitionState(p.GetState()), To: p.GetTo(), SinceIndex: p.GetSinceIndex(), Since: p.GetSince(), Why: p.GetWhy(),
	}
}
