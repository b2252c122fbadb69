package rest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/server/rest"
)

// A CPU profile of more seconds than the default timeout has the time for it, but not more than its caller gives.
func TestACPUProfileHasTheTimeThatItNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, rest.Options{Profile: func(ctx context.Context, _ string, seconds uint64) ([]byte, error) {
			select {
			case <-time.After(time.Duration(seconds) * time.Second):
				return []byte("profile"), nil
			case <-ctx.Done():
				return nil, agent.Errorf(agent.CodeUnavailable, "interrupted")
			}
		}})
		for _, seconds := range []string{"5", "10", "60"} {
			if got := k.call("GET", "/v1/cluster/profile?profile=cpu&seconds="+seconds, ""); got.Code != 200 || got.Body.String() != "profile" {
				t.Errorf("%s seconds: %d %s", seconds, got.Code, got.Body)
			}
		}
		if got := k.call("GET", "/v1/cluster/profile?profile=cpu&seconds=60", "", "Dormouse-Timeout-Ms: 20000"); got.Code != 503 {
			t.Errorf("60 seconds in 20: %d %s", got.Code, got.Body)
		}
	})
}
