package convert_test

import (
	"reflect"
	"testing"

	"dormouse/agent/layout"
	"dormouse/api/convert"
)

func TestAPlacementSurvivesTheWire(t *testing.T) {
	p := layout.Partition{
		ID: 7, Owner: "n1", Incarnation: "life", Epoch: 9, State: layout.PartitionDraining, To: "n2", SinceIndex: 3, Since: 4, Why: "because",
	}
	want := layout.Placement{
		Index: 1, Nodes: []layout.PlacedNode{{Node: "n1", Zone: "a", Weight: 5, Leased: true, Owned: 6, Draining: 2, Coming: 3}}, Free: 8,
		Moving: []layout.Partition{p}, Partition: &p,
		Events:     []layout.PlacementEvent{{Index: 1, Time: 2, Kind: layout.EventMoved, From: "n1", To: "n2", Epoch: 3, Why: "w", Partitions: []int{0, 4095}}},
		Candidates: []layout.PlacementCandidate{{Node: "n1", Zone: "a", Weight: 5, Score: 1.5}},
		Forecast:   &layout.PlacementForecast{Moves: 11, Owner: "n2"},
	}
	if got := convert.PlacementFromProto(convert.PlacementToProto(&want)); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	q := layout.PlacementQuery{Scope: "s", Manager: "m", Key: "k", With: "w", Without: "x", Events: 5}
	if got := convert.PlacementQueryFromProto(convert.PlacementQueryToProto(q)); got != q {
		t.Errorf("%+v", got)
	}
}
