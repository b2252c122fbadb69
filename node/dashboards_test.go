package node_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/config"
	"dormouse/node/nodetest"
)

// suffixes of the series of a histogram.
var histogramSuffix = regexp.MustCompile(`_(bucket|sum|count)$`)

// Each metric that the dashboard, the alerts and the documentation name is one that a node has.
func TestDashboardsNameMetricsThatExist(t *testing.T) {
	has := exposed(t)
	for _, path := range []string{"../deploy/grafana/dormouse.json", "../deploy/prometheus/alerts.yml", "../docs/observability.md", "../docs/backups.md", "../docs/audit.md", "../docs/tenants.md"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, ".json") && !json.Valid(text) {
			t.Errorf("%s is not JSON", path)
		}
		found := 0
		for _, name := range regexp.MustCompile(`\bdormouse_[a-z0-9_]*[a-z0-9]`).FindAllString(string(text), -1) {
			if found++; !has[name] && !has[histogramSuffix.ReplaceAllString(name, "")] {
				t.Errorf("%s names %s, which no node has", path, name)
			}
		}
		if found == 0 {
			t.Errorf("%s names no metric", path)
		}
	}
}

// exposed returns the names of the metrics of a node that has done something of everything.
func exposed(t *testing.T) map[string]bool {
	t.Helper()
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer hook.Close()
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true, Configure: func(c *config.Config) {
		c.Node.Ephemeral, c.Node.DataDir = false, t.TempDir()
		c.Backup.URL, c.Backup.LogEvery = "file://"+t.TempDir(), time.Second
		c.Audit.WebhookURL, c.Audit.WebhookKeyFile = hook.URL, keyFile
	}})
	if _, err := n.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "k"}}}); err != nil {
		t.Fatal(err)
	}
	has := scrape(t, n)
	// The first backup begins at once and the log is shipped a second later. A request is counted
	// once it is answered.
	missing := func() bool {
		return !has["dormouse_backup_log_shipped_timestamp_seconds"] || !has["dormouse_backup_last_success_timestamp_seconds"] ||
			!has["dormouse_backup_overdue_timestamp_seconds"]
	}
	for deadline := time.Now().Add(time.Minute); missing() && time.Now().Before(deadline); has = scrape(t, n) {
		time.Sleep(50 * time.Millisecond)
	}
	return has
}

func scrape(t *testing.T, n *nodetest.Node) map[string]bool {
	t.Helper()
	answer, err := http.Get("http://" + n.HTTPAddr() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for line := range bytes.Lines(text) {
		if name, ok := bytes.CutPrefix(line, []byte("# TYPE ")); ok {
			has[string(bytes.Fields(name)[0])] = true
		}
	}
	return has
}
