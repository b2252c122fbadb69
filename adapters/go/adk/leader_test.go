package adk_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"dormouse/adapters/go/adk"
)

// Events go on while the leader is killed, and each is stored once.
func TestALeadersDeathLosesNoEvent(t *testing.T) {
	control := os.Getenv("DORMOUSE_CONTROL")
	if control == "" {
		t.Skip("no DORMOUSE_CONTROL: internal/withcluster sets it")
	}
	s := adk.NewSessions(dial(t), "")
	of := create(t, s, "s", nil)
	const n = 60
	for i := range n {
		if i == n/3 {
			r, err := http.Post(control+"/leader/kill", "", nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Body.Close(); err != nil || r.StatusCode != http.StatusOK {
				t.Fatalf("kill the leader: %s, %v", r.Status, err)
			}
		}
		if err := s.AppendEvent(t.Context(), of, said(fmt.Sprint(i), "text", map[string]any{"last": i})); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
	stored := get(t, s, "s")
	if last, err := stored.State().Get("last"); err != nil || last != float64(n-1) || stored.Events().Len() != n {
		t.Errorf("the last of %d events is %v, %v", stored.Events().Len(), last, err)
	}
	for i := range n {
		if id := stored.Events().At(i).ID; id != fmt.Sprint(i) {
			t.Errorf("event %d is %s", i, id)
		}
	}
}
