package doctor

import (
	"time"

	"dormouse/internal/cli"
)

// Thresholds of the checks.
const (
	lagWarning      = 10_000 // log entries
	clockWarning    = 500 * time.Millisecond
	expiryWarning   = 30 * 24 * time.Hour
	expiryProblem   = 7 * 24 * time.Hour
	fsyncWarningMS  = 50.0 // p99, in milliseconds
	fsyncProblemMS  = 500.0
	fsyncSamplesMin = 20 // fewer say nothing
	diskWarning     = 5 << 30
	debtWarning     = 2 << 30 // of compactions, if it is also a quarter of the data
	backupSlack     = 2       // intervals without a backup
	backupLate      = time.Hour
)

// check is one question about a cluster.
type check struct {
	name string
	run  func(f *facts, found *findings)
}

// checks are all checks, in the order in which they are made.
var checks = []check{
	{"leader", checkLeader},
	{"quorum", checkQuorum},
	{"nodes", checkNodes},
	{"membership", checkGossip},
	{"lag", checkLag},
	{"versions", checkVersions},
	{"clocks", checkClocks},
	{"disks", checkDisks},
	{"fsync", checkFsync},
	{"compaction", checkCompaction},
	{"certificates", checkCertificates},
	{"backups", checkBackups},
	{"audit", checkAudit},
	{"settings", checkSettings},
	{"state", checkState},
}

// examine makes all checks.
func examine(f *facts) findings {
	var found findings
	for _, c := range checks {
		c.run(f, &found)
	}
	return found.sorted()
}

func checkLeader(f *facts, found *findings) {
	if f.Cluster.Leader == "" {
		found.add(problem, "leader", "", "check that a majority of the voters runs, and that they reach each other's Raft port",
			"node %s knows no leader: no write and no linearizable read is served", f.Cluster.Node)
	}
	for _, n := range f.Nodes {
		switch {
		case n.Status == nil || f.Cluster.Leader == "" || n.Status.Leader == f.Cluster.Leader:
		case n.Status.Leader != "":
			found.add(warning, "leader", n.Member.ID, "run doctor again: during an election this is normal",
				"it sees %s as the leader, and node %s sees %s", n.Status.Leader, f.Cluster.Node, f.Cluster.Leader)
		case !n.Member.Host:
			found.add(severityOf(n.Member.Voter), "leader", n.Member.ID, "run doctor again: during an election this is normal; else check that the nodes reach its Raft port",
				"it knows no leader, and node %s sees %s: no entry reaches it", f.Cluster.Node, f.Cluster.Leader)
		}
	}
}

// severityOf returns how bad it is that no entry reaches a node.
func severityOf(voter bool) severity {
	if voter {
		return problem
	}
	return warning
}

// checkQuorum tells how many voters may still be lost. One that knows no leader, while another does, is lost
// to Raft although it answers.
func checkQuorum(f *facts, found *findings) {
	voters, up := 0, 0
	for _, n := range f.Nodes {
		if n.Member.Voter {
			voters++
			if n.Status != nil && (n.Status.Leader != "" || f.Cluster.Leader == "") {
				up++
			}
		}
	}
	margin := up - (voters/2 + 1)
	switch {
	case voters == 0:
		return
	case margin < 0:
		found.add(problem, "quorum", "", "start the nodes that are down; if their data is lost, see docs/lost-majority.md",
			"%d of %d voters answer, and %d are needed", up, voters, voters/2+1)
	case margin == 0 && voters > 1:
		found.add(problem, "quorum", "", "start the nodes that are down, or replace them",
			"%d of %d voters answer: the cluster stops if it loses one more", up, voters)
	case voters == 1:
		found.add(note, "quorum", "", "add two nodes for a cluster that survives the loss of one",
			"there is one voter: the cluster stops when it does")
	}
	if voters > 1 && voters%2 == 0 {
		found.add(warning, "quorum", "", "add a voter or remove one: an even number survives no more failures than one less",
			"there are %d voters", voters)
	}
}

func checkNodes(f *facts, found *findings) {
	for _, n := range f.Nodes {
		if n.Member.Host {
			continue
		}
		switch {
		case n.Err != nil:
			found.add(problem, "nodes", n.Member.ID, "look at its log, restart it, or replace it (docs/recovery.md)", "it does not answer at %s: %v", n.Member.GRPCAddr, n.Err)
		case n.HTTPErr != nil:
			found.add(warning, "nodes", n.Member.ID, "doctor needs a token that may change the cluster, and the HTTP port", "not all could be asked: %v", n.HTTPErr)
		}
	}
}

// checkGossip compares what gossip says of a member with whether that answers.
func checkGossip(f *facts, found *findings) {
	answers := map[string]bool{}
	for _, n := range f.Nodes {
		answers[n.Member.ID] = n.Status != nil
	}
	for _, n := range f.Nodes {
		if n.Status == nil {
			continue
		}
		for _, m := range n.Status.Members {
			if !m.Host && m.Status != "alive" && answers[m.ID] {
				found.add(warning, "membership", n.Member.ID, "check that the gossip port is open over UDP and TCP between them, and that gossip.key_file is the same",
					"gossip holds %s as %s, but that node answers", m.ID, cli.OrDash(m.Status))
			}
		}
		if len(n.Status.Members) != len(f.Cluster.Members) {
			found.add(warning, "membership", n.Member.ID, "run doctor again: a change of the membership may be under way",
				"it knows %d members, and node %s knows %d", len(n.Status.Members), f.Cluster.Node, len(f.Cluster.Members))
		}
	}
}

func checkLag(f *facts, found *findings) {
	var newest uint64
	for _, n := range f.Nodes {
		if n.Status != nil {
			newest = max(newest, n.Status.AppliedIndex)
		}
	}
	for _, n := range f.Nodes {
		if n.Status != nil && newest-n.Status.AppliedIndex > lagWarning {
			found.add(warning, "lag", n.Member.ID, "compare its disk and network with those of the other nodes",
				"it is %d log entries behind", newest-n.Status.AppliedIndex)
		}
		for _, other := range f.Nodes { // the same entry has the same chain everywhere
			if n.Status != nil && other.Status != nil && n.Member.ID < other.Member.ID &&
				n.Status.AppliedIndex == other.Status.AppliedIndex && n.Status.Chain != other.Status.Chain {
				found.add(problem, "lag", n.Member.ID, "stop the odd node, empty its data directory, and let it join again (docs/recovery.md)",
					"its state differs from that of %s at entry %d", other.Member.ID, n.Status.AppliedIndex)
			}
		}
	}
}

func checkVersions(f *facts, found *findings) {
	versions := map[string]bool{}
	newest := uint32(0)
	for _, n := range f.Nodes {
		if n.Status != nil {
			versions[n.Status.Version] = true
			newest = max(newest, n.Member.FeatureLevelMax)
		}
	}
	if len(versions) > 1 {
		found.add(warning, "versions", "", "finish the upgrade: all nodes should run one version", "the nodes run %d versions", len(versions))
	}
	if f.Cluster.FeatureLevel < newest {
		found.add(note, "versions", "", "upgrade the older nodes; the level rises once all support it",
			"the feature level is %d, and some nodes support %d", f.Cluster.FeatureLevel, newest)
	}
}
