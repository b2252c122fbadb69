package turnsnap_test

import (
	"errors"
	"fmt"
	"log"

	"dormouse/agent"
	"dormouse/agent/turnsnap"
)

// A turn that waits for a person is exported to a queue, and continued in another
// cluster.
func Example() {
	ring, err := turnsnap.NewRing(turnsnap.Key{ID: "2026-11", Secret: []byte("at least thirty-two random bytes, from a vault")})
	if err != nil {
		log.Fatal(err)
	}
	state, err := turnsnap.Encode("turn_state", map[string]any{"messages": []string{"refund order 8812"}, "step": 3})
	if err != nil {
		log.Fatal(err)
	}
	portable, err := ring.Sign(agent.SessionSnapshot{
		ID: "snap_7", Agent: "support", Cursor: agent.Cursor{Phase: agent.PhaseReview}, TurnState: state,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(portable[:len(turnsnap.Prefix)])

	opened, err := ring.Open(portable)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(opened.ID, opened.Cursor.Phase, string(opened.TurnState))
	// Output:
	// dormouse:snapshot:v1:
	// snap_7 review {"messages":["refund order 8812"],"step":3}
}

// The new key signs, and strings signed with the old key still open.
func ExampleNewRing_rotation() {
	old := turnsnap.Key{ID: "2026-10", Secret: []byte("an older secret of thirty-two bytes, or more")}
	before, err := turnsnap.NewRing(old)
	if err != nil {
		log.Fatal(err)
	}
	portable, err := before.Sign(agent.SessionSnapshot{ID: "snap_1", Cursor: agent.Cursor{Phase: agent.PhaseWait}})
	if err != nil {
		log.Fatal(err)
	}
	after, err := turnsnap.NewRing(turnsnap.Key{ID: "2026-11", Secret: []byte("a newer secret of thirty-two bytes, or more")}, old)
	if err != nil {
		log.Fatal(err)
	}
	opened, err := after.Open(portable)
	fmt.Println(opened.ID, err)
	_, err = after.Open(portable + "x")
	fmt.Println(agent.CodeOf(err))
	// Output:
	// snap_1 <nil>
	// invalid_snapshot_signature
}

// The error names the path of the value that JSON cannot represent.
func ExampleEncode() {
	_, err := turnsnap.Encode("turn_state", map[string]any{"tools": []any{map[string]any{"name": "refund", "fn": func() {}}}})
	var e *agent.Error
	if errors.As(err, &e) {
		fmt.Println(e.Code, e.Field)
	}
	// Output: non_serializable_snapshot_value turn_state.tools[0].fn
}
