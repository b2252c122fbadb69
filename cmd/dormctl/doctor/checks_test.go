package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"dormouse/agent/layout"
	"dormouse/api/document"
)

// sound returns the facts of three nodes with nothing wrong.
func sound(t *testing.T) *facts {
	t.Helper()
	f := &facts{At: time.UnixMilli(1_800_000_000_000)}
	var members []layout.MemberStatus
	for i := range 3 {
		id := fmt.Sprintf("n%d", i+1)
		members = append(members, layout.MemberStatus{
			Member: layout.Member{ID: id, GRPCAddr: "127.0.0.1:1", HTTPAddr: "127.0.0.1:2", FeatureLevelMax: 8},
			Voter:  true, Leader: i == 0, Status: "alive",
		})
	}
	f.Cluster = layout.ClusterStatus{
		Node: "n1", Leader: "n1", FeatureLevel: 8, Version: "v1", Members: members, AppliedIndex: 100, Auth: layout.AuthTokens,
		Backup: &layout.BackupStatus{LastSuccessAt: f.At.Add(-time.Hour).UnixMilli()},
	}
	for _, m := range members {
		status := f.Cluster
		f.Nodes = append(f.Nodes, nodeFacts{
			Member: m, Status: &status, ClockBound: time.Millisecond,
			Settings: map[string]document.Setting{"backup.every": {Value: "24h0m0s"}, "backup.url": {Value: "file:///b"}, "node.ephemeral": {Value: "false"}},
			Metrics:  scraped(t, ""), Before: scraped(t, ""),
			Expires: []certificate{{"127.0.0.1:1", f.At.Add(90 * 24 * time.Hour)}},
		})
	}
	return f
}

// scraped returns sound metrics, with some lines replaced.
func scraped(t *testing.T, lines string) metrics {
	t.Helper()
	text := "dormouse_cluster_read_only 0\ndormouse_cluster_disk_free_bytes 1e12\ndormouse_engine_disk_bytes 1e9\ndormouse_engine_stalls_total 3\ndormouse_cluster_wall_steps_total 1\n" + histogram("raft_leader_dispatchLog", 1000, 1000)
	for line := range strings.Lines(lines) {
		name, _, _ := strings.Cut(line, " ")
		var kept strings.Builder
		for old := range strings.Lines(text) {
			if !strings.HasPrefix(old, name+" ") {
				kept.WriteString(old)
			}
		}
		text = kept.String() + line + "\n"
	}
	m, err := parseMetrics([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// histogram returns a histogram of which some observations are at most 10 and the others at most 1000.
func histogram(name string, fast, all int) string {
	return fmt.Sprintf("# TYPE %[1]s histogram\n%[1]s_bucket{le=\"10\"} %[2]d\n%[1]s_bucket{le=\"600\"} %[2]d\n%[1]s_bucket{le=\"1000\"} %[3]d\n%[1]s_bucket{le=\"+Inf\"} %[3]d\n%[1]s_sum 1\n%[1]s_count %[3]d\n", name, fast, all)
}

// The worst finding decides the exit code, in any order. Notes do not count.
func TestTheWorstFindingIsFound(t *testing.T) {
	for _, c := range []struct {
		list []severity
		want severity
	}{
		{nil, ""},
		{[]severity{note}, ""},
		{[]severity{note, warning}, warning},
		{[]severity{warning, note}, warning},
		{[]severity{problem, note}, problem},
		{[]severity{problem, warning}, problem},
		{[]severity{warning, problem}, problem},
	} {
		var found findings
		for _, one := range c.list {
			found.add(one, "disk", "n1", "act", "it is full")
		}
		if got := found.worst(); got != c.want {
			t.Errorf("the worst of %v is %q, want %q", c.list, got, c.want)
		}
	}
}

func TestNothingIsWrongWithASoundCluster(t *testing.T) {
	if found := examine(sound(t)); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}

// Each fault is found, with its severity and its node, and nothing else is.
func TestEachFaultIsFound(t *testing.T) {
	down := func(f *facts, i int) { f.Nodes[i].Status, f.Nodes[i].Err = nil, errors.New("refused") }
	for name, c := range map[string]struct {
		change func(f *facts)
		want   []string // severity check node
	}{
		"no leader": {func(f *facts) {
			f.Cluster.Leader = ""
			for i := range f.Nodes {
				f.Nodes[i].Status.Leader = ""
			}
		}, []string{"problem leader "}},
		"a node with another row": {func(f *facts) {
			f.StatesAsked = true
			for i := range f.Nodes {
				kinds := []document.KindSum{document.NewKindSum("thread", 2, 90, 7), document.NewKindSum("timer", uint64(i/2), 40, 8)}
				f.Nodes[i].State = &document.StateSum{Node: f.Nodes[i].Member.ID, Index: 9, Hash: fmt.Sprint(i / 2), Kinds: kinds}
			}
		}, []string{"problem state n3"}},
		"states of several indexes": {func(f *facts) {
			f.StatesAsked = true
			for i := range f.Nodes {
				f.Nodes[i].State = &document.StateSum{Index: uint64(9 + i), Hash: "h"}
			}
		}, []string{"warning state "}},
		"two nodes that differ": {func(f *facts) {
			f.StatesAsked = true
			f.Nodes[2].StateErr = errors.New("refused")
			for i := range 2 {
				f.Nodes[i].State = &document.StateSum{Node: f.Nodes[i].Member.ID, Index: 9, Hash: fmt.Sprint(i)}
			}
		}, []string{"problem state ", "warning state n3"}},
		"three nodes that differ": {func(f *facts) {
			f.StatesAsked = true
			for i := range f.Nodes {
				f.Nodes[i].State = &document.StateSum{Node: f.Nodes[i].Member.ID, Index: 9, Hash: fmt.Sprint(i)}
			}
		}, []string{"problem state "}},
		"a voter that is cut off": {func(f *facts) { f.Nodes[2].Status.Leader = "" }, []string{"problem leader n3", "problem quorum "}},
		"a spare that is cut off": {func(f *facts) {
			f.Nodes = append(f.Nodes, f.Nodes[2])
			f.Nodes[3].Member.ID, f.Nodes[3].Member.Voter = "n4", false
			status := *f.Nodes[2].Status
			status.Leader = ""
			f.Nodes[3].Status = &status
		}, []string{"warning leader n4"}},
		"backups that are not told": {func(f *facts) { f.Cluster.Backup = nil }, []string{"warning backups "}},
		"a backup that is due":      {func(f *facts) { f.Cluster.Backup.Next = f.At.Add(-2 * time.Hour).UnixMilli() }, []string{"problem backups "}},
		"two leaders":               {func(f *facts) { f.Nodes[2].Status.Leader = "n2" }, []string{"warning leader n3"}},
		"one node down":             {func(f *facts) { down(f, 1) }, []string{"problem nodes n2", "problem quorum "}},
		"two nodes down":            {func(f *facts) { down(f, 1); down(f, 2) }, []string{"problem nodes n2", "problem nodes n3", "problem quorum "}},
		"two voters":                {func(f *facts) { f.Nodes[2].Member.Voter = false }, []string{"problem quorum ", "warning quorum "}},
		"gossip does not reach":     {func(f *facts) { setStatus(f, 0, 2, "failed") }, []string{"warning membership n1"}},
		"a node lags":               {func(f *facts) { f.Nodes[1].Status.AppliedIndex, f.Nodes[0].Status.AppliedIndex = 1, 20_000 }, []string{"warning lag n2", "warning lag n3"}},
		"a node diverged":           {func(f *facts) { f.Nodes[2].Status.Chain = 7 }, []string{"problem lag n1", "problem lag n2"}},
		"two versions":              {func(f *facts) { f.Nodes[2].Status.Version = "v2" }, []string{"warning versions "}},
		"an old level":              {func(f *facts) { f.Cluster.FeatureLevel = 7 }, []string{"note versions "}},
		"a clock is wrong":          {func(f *facts) { f.Nodes[1].Clock = -502 * time.Millisecond }, []string{"warning clocks n2"}},
		"a clock is nearly right":   {func(f *facts) { f.Nodes[1].Clock, f.Nodes[1].ClockBound = 600*time.Millisecond, 200*time.Millisecond }, nil},
		"a clock jumps":             {func(f *facts) { f.Nodes[1].Metrics = scraped(t, "dormouse_cluster_wall_steps_total 2") }, []string{"warning clocks n2"}},
		"a full disk":               {func(f *facts) { f.Nodes[0].Metrics = scraped(t, "dormouse_cluster_read_only 1") }, []string{"problem disks n1"}},
		"little disk": {func(f *facts) {
			f.Nodes[0].Metrics = scraped(t, "dormouse_cluster_disk_free_bytes 1e9\ndormouse_engine_disk_bytes 2e9\n")
		}, []string{"warning disks n1"}},
		"a slow flush": {func(f *facts) {
			f.Nodes[0].Metrics = scraped(t, "")
			f.Nodes[0].Metrics["raft_leader_dispatchLog"] = slow(t, 980)
		}, []string{"problem fsync n1"}},
		"a flush that is rather slow": {func(f *facts) {
			f.Nodes[0].Metrics = scraped(t, "")
			f.Nodes[0].Metrics["raft_leader_dispatchLog"] = slow(t, 980)
			h := f.Nodes[0].Metrics["raft_leader_dispatchLog"].Metric[0].GetHistogram()
			h.Bucket = slices.Delete(h.Bucket, 1, 2) // the bucket before the slow ones ends at 10 ms
		}, []string{"warning fsync n1"}},
		"few slow flushes":     {func(f *facts) { f.Nodes[0].Metrics["raft_leader_dispatchLog"] = slow(t, 995) }, nil},
		"compactions are late": {func(f *facts) { f.Nodes[0].Metrics = scraped(t, "dormouse_engine_compaction_debt_bytes 3e9\n") }, []string{"warning compaction n1"}},
		"writes stall":         {func(f *facts) { f.Nodes[0].Metrics = scraped(t, "dormouse_engine_stalls_total 5\n") }, []string{"warning compaction n1"}},
		"a certificate ends":   {func(f *facts) { f.Nodes[2].Expires[0].NotAfter = f.At.Add(20 * 24 * time.Hour) }, []string{"warning certificates n3"}},
		"a certificate ended":  {func(f *facts) { f.Nodes[2].Expires[0].NotAfter = f.At.Add(-time.Hour) }, []string{"problem certificates n3"}},
		"no backup yet":        {func(f *facts) { f.Cluster.Backup.LastSuccessAt = 0 }, []string{"note backups "}},
		"an old backup":        {func(f *facts) { f.Cluster.Backup.LastSuccessAt = f.At.Add(-49 * time.Hour).UnixMilli() }, []string{"problem backups "}},
		"a failed backup":      {func(f *facts) { f.Cluster.Backup.LastError, f.Cluster.Backup.LastErrorAt = "no", f.At.UnixMilli() }, []string{"warning backups "}},
		"the audit log fails":  {func(f *facts) { f.Nodes[0].Metrics = scraped(t, "dormouse_audit_failing 1\n") }, []string{"problem audit n1"}},
		"audit records lost":   {func(f *facts) { f.Nodes[0].Metrics = scraped(t, "dormouse_audit_lost_total 2\n") }, []string{"warning audit n1"}},
		"settings differ":      {func(f *facts) { f.Nodes[1].Settings = map[string]document.Setting{"backup.every": {Value: "1h"}} }, []string{"warning settings "}},
		"open to everyone":     {func(f *facts) { f.Nodes[1].Status.Auth, f.Nodes[1].Member.GRPCAddr = layout.AuthOff, "10.0.0.1:7601" }, []string{"problem settings n2"}},
		"open to this machine": {func(f *facts) { f.Nodes[1].Status.Auth = layout.AuthOff }, nil},
		"insecure":             {func(f *facts) { f.Nodes[1].Status.Insecure = true }, []string{"warning settings n2"}},
		"in memory":            {func(f *facts) { f.Nodes[1].Settings = map[string]document.Setting{"node.ephemeral": {Value: "true"}} }, []string{"problem settings n2"}},
		"no rights":            {func(f *facts) { f.Nodes[1].Settings, f.Nodes[1].HTTPErr = nil, errors.New("403") }, []string{"warning nodes n2"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := sound(t)
			c.change(f)
			var got []string
			for _, one := range examine(f) {
				if one.What == "" || one.Do == "" {
					t.Errorf("%+v does not say what to do", one)
				}
				got = append(got, fmt.Sprintf("%s %s %s", one.Severity, one.Check, one.Node))
			}
			if strings.Join(got, "; ") != strings.Join(c.want, "; ") {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// setStatus sets what gossip on one node says of another.
func setStatus(f *facts, on, of int, status string) {
	members := append([]layout.MemberStatus{}, f.Nodes[on].Status.Members...)
	members[of].Status = status
	f.Nodes[on].Status.Members = members
}

// slow returns a histogram with 1000 more observations than the first sample's, of which some are fast.
func slow(t *testing.T, fast int) *dto.MetricFamily {
	t.Helper()
	m, err := parseMetrics([]byte(histogram("raft_leader_dispatchLog", 1000+fast, 2000)))
	if err != nil {
		t.Fatal(err)
	}
	return m["raft_leader_dispatchLog"]
}
