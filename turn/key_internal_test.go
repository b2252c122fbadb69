package turn

import (
	"testing"

	"dormouse/agent"
)

// The keys of the effects of one session differ, whatever ids its users choose for requests.
func TestAKeyNamesOneEffect(t *testing.T) {
	keys := map[string][2]string{}
	for _, ids := range [][2]string{{"r", "refund/charge"}, {"r/refund", "charge"}, {"r%2Frefund", "charge"}, {"r/", "charge"}, {"r", "/charge"}, {"r%", "charge"}, {"r", "charge"}} {
		of := &Turn{session: "user/7", initial: agent.Session{SessionRow: agent.SessionRow{Incarnation: 5}}, request: agent.SessionRequest{ID: ids[0]}}
		k := key(of, ids[1])
		if other, taken := keys[k]; taken {
			t.Errorf("request %q with effect %q and request %q with effect %q have the key %q", ids[0], ids[1], other[0], other[1], k)
		}
		keys[k] = ids
	}
	plain := &Turn{session: "user/7", initial: agent.Session{SessionRow: agent.SessionRow{Incarnation: 5}}, request: agent.SessionRequest{ID: "r"}}
	if k := key(plain, "tool/1/2"); k != "user/7/5/r/tool/1/2" {
		t.Errorf("the key is %q: open turns need the one that they began with", k)
	}
}
