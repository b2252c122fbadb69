package document

import (
	"testing"

	"github.com/go-json-experiment/json"

	"dormouse/agent/layout"
)

// The placement of a key, of all partitions in numbers, and as a map.
func TestPlacementsHaveTheirMembers(t *testing.T) {
	moving := layout.Partition{ID: 2, Owner: "n1", Epoch: 9, State: layout.PartitionDraining, To: "n2", SinceIndex: 3, Since: 4, Why: "w"}
	p := layout.Placement{
		Index:  7,
		Nodes:  []layout.PlacedNode{{Node: "n1", Zone: "z", Weight: 5, Leased: true, Owned: 6, Draining: 1, Coming: 2, Host: true, Handlers: []string{"h"}, DrainedAt: 8}},
		Free:   1,
		Moving: []layout.Partition{moving},
		Events: []layout.PlacementEvent{
			{Index: 1, Time: 2, Kind: layout.EventMoved, From: "n1", To: "n2", Epoch: 3, Why: "a", Partitions: []int{2, 3}},
			{Index: 5, Time: 6, Kind: layout.EventLapsed, From: "n2", Why: "b", Partitions: []int{0}},
		},
		Owners:     []string{"n2", "", "n1"},
		Pins:       []layout.Pin{{Partition: 2, Node: "n2", Since: 3}},
		Partition:  &moving,
		Candidates: []layout.PlacementCandidate{{Node: "n1", Zone: "z", Weight: 5, Score: 1.5}},
		Forecast:   &layout.PlacementForecast{Moves: 11, Owner: "n2"},
	}
	const moved, lapsed, pin, move = `{"index":1,"at":2,"kind":"moved","from":"n1","to":"n2","epoch":3,"why":"a","partitions":2}`,
		`{"index":5,"at":6,"kind":"lapsed","from":"n2","epoch":0,"why":"b","partitions":1}`,
		`{"partition":2,"node":"n2","since":3}`, `{"partition":2,"from":"n1","to":"n2","why":"w"}`
	for _, one := range []struct {
		document any
		want     string
	}{
		{PlacementAnswerOf(p), `{"partition":2,"owner":"n1","epoch":9,"state":"draining","to":"n2","since":4,"since_index":3,"why":"w","pin":` + pin +
			`,"candidates":[{"node":"n1","zone":"z","weight":5,"score":1.5}],"forecast":{"moves":11,"owner":"n2"},"events":[` + moved + `]}`},
		{PlacementSharesOf(p), `{"nodes":[{"node":"n1","zone":"z","weight":5,"leased":true,"owned":6,"draining":1,"coming":2,"host":true,"handlers":["h"],"drained_at":8}],"free":1,"moving":[` +
			move + `],"pins":[` + pin + `]}`},
		{PlacementMapOf(p), `{"index":7,"nodes":["n1","n2"],"owners":[1,-1,0],"moving":[` + move + `],"pins":[` + pin + `],"events":[` + lapsed + `,` + moved + `]}`},
	} {
		raw, err := json.Marshal(one.document)
		if err != nil {
			t.Fatal(err)
		}
		if string(raw) != one.want {
			t.Errorf("%T: %s\nwant %s", one.document, raw, one.want)
		}
	}
}
