package node_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"dormouse/config"
	"dormouse/node"
	"dormouse/node/nodetest"
)

// A node tells operators its settings in force and its audit log, and others neither.
func TestSettingsAndTheAuditLogAreForOperators(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true, Auth: true, Configure: func(c *config.Config) {
		c.Node.Ephemeral, c.Node.DataDir = false, t.TempDir()
	}})
	get := func(path, token string, into any) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+n.HTTPAddr()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close() //nolint:errcheck // it was only read
		if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode
	}
	for _, path := range []string{"/v1/cluster/settings", "/v1/cluster/audit"} {
		var problem struct{ Code string }
		if status := get(path, "dorm_nobody", &problem); status != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d %s", path, status, problem.Code)
		}
	}
	var settings struct {
		Settings []config.Setting
	}
	if status := get("/v1/cluster/settings", n.RootToken(), &settings); status != http.StatusOK {
		t.Fatal(status)
	}
	for _, s := range settings.Settings {
		if s.Name == "auth.mode" && s.Value != config.AuthTokens {
			t.Errorf("auth.mode is %q", s.Value)
		}
	}
	memory, derived := slices.IndexFunc(settings.Settings, func(s config.Setting) bool { return s.Name == "storage.memory" }), node.MemoryPlan(config.Default()).String()
	if memory < 0 || settings.Settings[memory].Value != derived || settings.Settings[memory].Default != derived {
		t.Errorf("the memory in force is not told: %+v, want %s", settings.Settings[memory], derived)
	}
	if len(settings.Settings) < 80 {
		t.Errorf("%d settings", len(settings.Settings))
	}
	var records struct{ Records []struct{ Kind string } }
	if status := get("/v1/cluster/audit?limit=5", n.RootToken(), &records); status != http.StatusOK || len(records.Records) == 0 || records.Records[0].Kind != "denial" {
		t.Errorf("%d: %+v", status, records)
	}
	type kind struct {
		Kind string
		Rows uint64
	}
	var sum struct {
		Index uint64
		Hash  string
		Kinds []kind
	}
	if status := get("/v1/cluster/state-sum", n.RootToken(), &sum); status != http.StatusOK || sum.Index == 0 || len(sum.Hash) != 64 || !slices.Contains(sum.Kinds, kind{"token", 1}) {
		t.Errorf("%d: %+v", status, sum)
	}
}
