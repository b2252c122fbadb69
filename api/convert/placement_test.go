package convert_test

import (
	"reflect"
	"testing"

	"dormouse/agent"
	"dormouse/api/convert"
)

func TestAPlacementSurvivesTheWire(t *testing.T) {
	p := agent.Partition{
		ID: 7, Owner: "n1", Incarnation: "life", Epoch: 9, State: agent.PartitionDraining, To: "n2", SinceIndex: 3, Since: 4, Why: "because",
	}
	want := agent.Placement{
		Index: 1, Nodes: []agent.PlacedNode{{Node: "n1", Zone: "a", Weight: 5, Leased: true, Owned: 6, Draining: 2, Coming: 3}}, Free: 8,
		Moving: []agent.Partition{p}, Partition: &p,
		Events:     []agent.PlacementEvent{{Index: 1, Time: 2, Kind: agent.EventMoved, From: "n1", To: "n2", Epoch: 3, Why: "w", Partitions: []int{0, 4095}}},
		Candidates: []agent.PlacementCandidate{{Node: "n1", Zone: "a", Weight: 5, Score: 1.5}},
		Forecast:   &agent.PlacementForecast{Moves: 11, Owner: "n2"},
	}
	if got := convert.PlacementFromProto(convert.PlacementToProto(&want)); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	q := agent.PlacementQuery{Scope: "s", Manager: "m", Key: "k", With: "w", Without: "x", Events: 5}
	if got := convert.PlacementQueryFromProto(convert.PlacementQueryToProto(q)); got != q {
		t.Errorf("%+v", got)
	}
}
