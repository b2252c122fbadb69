package tidy

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"dormouse/internal/modpath"
)

const module = modpath.Path

// noun returns what the package of a noun of the state machine may import.
func noun(others ...string) []string {
	return append([]string{"agent", "fsm/command", "fsm/kv", "fsm/txn", "proto/log"}, others...)
}

// mayImport is the architecture: each package, and those of ours it may
// import. A package missing here fails the test, so a new package is a
// decision.
var mayImport = map[string][]string{
	// Leaves: they know nothing of each other.
	"agent":          nil,
	"config":         nil,
	"cluster/gossip": nil,
	"storage":        nil,
	"proto":          nil,
	"proto/op":       nil,
	"proto/api":      {"proto/op"},
	"proto/log":      {"proto/op"},
	"proto/peer":     nil,

	// What translates between the domain and the wire, and what reads the
	// header of a snapshot's stream without the state machine that wrote it.
	"api/ops":        {"agent", "proto/op"},
	"api/convert":    {"agent", "agent/layout", "api/ops", "proto/api", "proto/op"},
	"proto/codec":    {},
	"proto/frame":    nil,
	"proto/snapfile": {},

	// The JSON contract, which HTTP serves and dormctl reads and prints.
	"api/document": {"agent", "agent/layout", "agent/replay", "instance/pod"},

	// The document of the HTTP API, for generators of clients.
	"api/openapi": {"agent", "api/document"},

	// Who may do what: pure.
	"access": {"agent", "agent/layout"},

	"access/oidc": {"access", "agent"},

	// Who did what.
	"audit": {"access", "agent", "agent/layout"},

	// What finds an agent's memories: pure, in memory.
	"recall": {"agent"},

	// Which node is to own which partition: pure.
	"placement": nil,

	// The replicated state, and the group that replicates it.
	"cluster":                   {"agent", "agent/layout", "cluster/assign", "cluster/keys", "cluster/membership", "cluster/proposer", "cluster/raftlog", "cluster/transport"},
	"cluster/assign":            {"agent", "agent/layout", "cluster/transport", "placement"},
	"cluster/membership":        {"agent", "agent/layout", "cluster/proposer", "cluster/raftlog", "cluster/transport"},
	"cluster/proposer":          {"agent", "cluster/raftlog"},
	"cluster/transport":         {"cluster/keys", "cluster/raftlog", "cluster/raftrpc"},
	"cluster/raftrpc":           nil,
	"cluster/raftlog":           {"agent"},
	"cluster/clustertest":       {"cluster/keys"},
	"cluster/keys":              nil,
	"cluster/peer":              {"agent", "agent/layout", "cluster/assign", "cluster/keys", "cluster/membership", "cluster/raftlog", "cluster/transport", "api/convert", "api/ops", "proto/api", "proto/codec", "proto/op", "proto/peer"},
	"cluster/gossip/gossiptest": {"cluster/gossip"},
	"fsm": {
		"agent", "agent/layout", "fsm/checkpoint", "fsm/claim", "fsm/command", "fsm/conversation", "fsm/deletion", "fsm/erasure", "fsm/kv", "fsm/manager", "fsm/memory", "fsm/metadata", "fsm/rule", "fsm/scoperow", "fsm/session", "fsm/snapshot",
		"fsm/thread", "fsm/timer", "fsm/token", "fsm/txn", "fsm/value", "fsm/watch", "placement", "proto/log", "proto/op", "proto/snapfile", "recall", "storage",
	},
	"fsm/command":             {"agent", "api/ops", "fsm/kv", "proto/log", "proto/op"},
	"fsm/command/commandtest": {"agent"},
	"fsm/kv":                  {"proto/log", "storage"},
	"fsm/snapshot":            {"fsm/command", "proto/snapfile", "storage"},
	"fsm/checkpoint":          noun("fsm/thread"),
	"fsm/claim":               noun(),
	"fsm/conversation":        noun(),
	"fsm/deletion":            noun("fsm/checkpoint", "fsm/thread", "fsm/value"),
	"fsm/erasure":             noun("fsm/checkpoint", "fsm/conversation", "fsm/memory", "fsm/session", "fsm/thread", "fsm/timer"),
	"fsm/manager":             noun(),
	"fsm/memory":              noun("recall", "storage"),
	"fsm/metadata":            noun("fsm/checkpoint"),
	"fsm/rule":                noun("agent/layout", "storage"),
	"fsm/scoperow":            noun("fsm/checkpoint", "fsm/conversation", "fsm/session", "fsm/thread", "fsm/value"),
	"fsm/watch":               {"fsm/erasure", "fsm/kv"},
	"fsm/session":             noun("api/ops", "fsm/checkpoint", "fsm/claim", "fsm/thread", "proto/op"),
	"fsm/thread":              noun(),
	"fsm/timer":               noun("fsm/checkpoint", "fsm/manager"),
	"fsm/token":               noun("api/ops"),
	"fsm/value":               noun(),
	"fsm/txn":                 {"agent", "agent/quota", "fsm/command", "fsm/kv", "proto/log", "recall", "storage"},
	"store":                   {"agent", "fsm", "fsm/command"},

	// What the leader does about timers, over any Service and instances.
	"timer": {"agent"},

	// What the leader does about the live instances of erased agents.
	"eraser": {"agent"},

	// Backups: what is stored, where, and what the leader does about them.
	"backup":          {"backup/blob"},
	"backup/blob":     nil,
	"backup/schedule": {"agent", "agent/layout", "backup", "backup/blob"},

	// The surface of a node.
	"router":          {"agent", "agent/layout", "placement"},
	"server/grpc":     {"access", "agent", "agent/layout", "api/convert", "api/ops", "proto/api", "proto/codec", "proto/op"},
	"server/redis":    {"access", "agent"},
	"server/rest":     {"access", "agent", "agent/layout", "agent/replay", "api/document", "instance/pod", "server/rest/web"},
	"server/rest/web": {"access", "agent", "agent/layout", "api/document", "api/openapi"},
	"ui":              nil,
	"node": {
		"access", "access/oidc", "agent", "agent/layout", "api/document", "audit", "backup", "backup/blob", "backup/schedule", "cluster", "cluster/assign", "cluster/gossip", "cluster/keys", "cluster/membership", "cluster/peer", "cluster/raftlog", "cluster/transport", "config", "eraser", "fsm", "instance", "instance/pod", "instance/pod/controller",
		"placement", "router", "server/grpc", "server/redis", "server/rest", "storage", "store", "tenant", "timer", "ui",
	},
	"cmd/node": {"config", "node"},

	// A real node for tests, and a client of it.
	"node/nodetest": {"client", "cluster/clustertest", "cluster/gossip/gossiptest", "cluster/transport", "cluster/keys", "config", "instance", "node"},

	// A part in a cluster for programs that are no node of it.
	"host": {"agent", "agent/layout", "client", "cluster/assign", "cluster/keys", "cluster/membership", "cluster/peer", "cluster/transport", "instance", "instance/pod/controller", "router", "server/grpc"},

	// Programs that show how Dormouse is used inside of others.
	"examples/companion": {"agent", "instance"},
	"examples/embedded":  {"agent", "config", "examples/companion", "node"},
	"examples/host":      {"agent", "agent/layout", "config", "examples/companion", "host", "instance", "node"},

	// A session's turns as signed strings, for anybody.
	"agent/turnsnap": {"agent"},
	"instance":       {"agent", "agent/layout", "api/document", "placement"},
	"instance/pod":   {"agent"},
	// …at work, and what every way to pods must do.
	"instance/pod/controller": {"agent", "instance", "instance/pod"},
	"instance/pod/podtest":    {"agent", "instance", "instance/pod"},
	"agent/replay":            {"agent"},
	"agent/quota":             {"agent"},
	"tenant":                  {"access", "agent"},
	"agent/layout":            {"agent"},

	// The plainest agent.Service, in memory: it shares no code with the state machine.
	"agent/memstore": {"agent", "recall"},

	// Conformance suites.
	"agent/agenttest": {"agent"},

	// Outside a node: these see only the public contract.
	"client":        {"access", "agent", "agent/layout", "instance/pod", "placement", "api/convert", "api/ops", "proto/api", "proto/codec", "proto/op"},
	"turn":          {"agent"},                         // over any Service
	"client/stores": {"agent", "client"},               // the interfaces that a program has already
	"importer":      {"agent", "agent/layout", "turn"}, // transcripts in, and what is stored against them
	"cmd/dormctl":   {"agent", "agent/layout", "agent/quota", "agent/replay", "agent/turnsnap", "api/document", "client", "cmd/dormctl/doctor", "cmd/dormctl/identity", "cmd/dormctl/kit", "cmd/dormctl/mcp", "cmd/dormctl/operator", "cmd/dormctl/top", "cmd/dormctl/transfer", "instance/pod"},
	// What the commands share, and the groups of them that have a package.
	"cmd/dormctl/kit":      {"access", "agent", "agent/layout", "api/document", "client"},
	"cmd/dormctl/identity": {"access", "agent", "agent/layout", "api/document", "cmd/dormctl/kit"},
	"cmd/dormctl/mcp":      {"access", "agent", "api/document", "cmd/dormctl/kit"},
	"cmd/dormctl/operator": {"agent", "agent/layout", "api/document", "audit", "cluster/keys", "cmd/dormctl/kit"},
	"cmd/dormctl/top":      {"agent", "agent/layout", "api/document", "cmd/dormctl/kit"},
	"cmd/dormctl/doctor":   {"agent/layout", "api/document", "cmd/dormctl/kit"},
	"cmd/dormctl/transfer": {"agent", "agent/layout", "api/document", "client", "cmd/dormctl/kit", "importer", "proto/snapfile"},

	// The benchmark too. cmd/dormbench, which drives the peers with their own
	// client libraries, and bench/etcd are modules of their own.
	"bench/load":     nil,
	"bench/usage":    nil,
	"bench/system":   {"cluster/keys"},
	"bench/jsonhttp": {"bench/load"},
	"bench/dormouse": {"agent", "bench/jsonhttp", "bench/load", "client"},
	"bench/report":   {"bench/load"},

	// Runs suites in other languages beside real nodes.
	"internal/withcluster": {"bench/system", "cluster/keys"},

	// The harness sees only the public contract.
	"jepsen/command":     {"agent", "jepsen/httpclient"},
	"jepsen/httpclient":  {"agent", "client", "instance/pod"},
	"jepsen/redisclient": {"agent"},
	"jepsen/sdkclient":   {"agent", "jepsen/httpclient"},
	"jepsen/history":     nil,
	"jepsen/check":       {"jepsen/history"},
	"jepsen/model":       {"jepsen/history"},
	"jepsen/nemesis":     {"agent", "agent/layout", "client", "jepsen/check", "jepsen/command", "jepsen/history", "jepsen/testbed", "jepsen/testbed/disk"},
	"jepsen": {
		"agent", "agent/layout", "client", "jepsen/check", "jepsen/command", "jepsen/history", "jepsen/httpclient", "jepsen/nemesis", "jepsen/redisclient", "jepsen/report", "jepsen/sdkclient", "jepsen/testbed", "jepsen/workload",
		"jepsen/workload/catalog", "jepsen/workload/instance",
	},
	"cmd/dormjepsen": {
		"jepsen", "jepsen/check", "jepsen/history", "jepsen/nemesis", "jepsen/program", "jepsen/report", "jepsen/testbed",
		"jepsen/workload/appends", "jepsen/workload/catalog", "jepsen/seeded", "jepsen/sim",
	},
	"jepsen/program":        {"agent", "host", "instance"}, // embeds Dormouse, as programs do
	"jepsen/report":         {"jepsen/check", "jepsen/history"},
	"jepsen/testbed":        {"access", "client", "cluster/keys", "jepsen/testbed/clock", "jepsen/testbed/disk", "jepsen/testbed/packet"},
	"jepsen/testbed/packet": nil,
	"jepsen/testbed/clock":  nil,
	"jepsen/testbed/disk":   nil,
	"jepsen/sim": {
		"agent/layout", "client", "cluster/keys", "config", "jepsen", "jepsen/check", "jepsen/history", "jepsen/report", "jepsen/sim/overlay", "jepsen/sim/simdisk",
		"jepsen/sim/simnet", "jepsen/sim/trace", "jepsen/workload", "jepsen/workload/catalog", "node",
	},
	"jepsen/sim/overlay": nil,
	"jepsen/sim/simdisk": {"cluster/raftlog", "jepsen/sim/trace", "storage"},
	"jepsen/sim/simnet":  {"jepsen/sim/trace"},
	"jepsen/sim/trace":   nil,
	"jepsen/seeded":      {"jepsen", "jepsen/check", "jepsen/history", "jepsen/nemesis", "jepsen/report", "jepsen/testbed"},

	// The workloads: what they share, a package each, their list, and their tests' histories.
	"jepsen/workload":               {"agent", "client", "instance/pod", "jepsen/check", "jepsen/history", "jepsen/model"},
	"jepsen/workload/appends":       workload,
	"jepsen/workload/cells":         workload,
	"jepsen/workload/changes":       workload,
	"jepsen/workload/claim":         workload,
	"jepsen/workload/conversations": workload,
	"jepsen/workload/dedupe":        workload,
	"jepsen/workload/deletes":       workload,
	"jepsen/workload/erase":         workload,
	"jepsen/workload/export":        workload,
	"jepsen/workload/fork":          workload,
	"jepsen/workload/hibernate":     workload,
	"jepsen/workload/instance":      workload,
	"jepsen/workload/lists":         workload,
	"jepsen/workload/plan":          workload,
	"jepsen/workload/pod":           append(workload, "instance/pod", "jepsen/workload/instance"),
	"jepsen/workload/quota":         workload,
	"jepsen/workload/recall":        append(workload, "jepsen/workload/set"),
	"jepsen/workload/register":      workload,
	"jepsen/workload/review":        workload,
	"jepsen/workload/session":       append(workload, "jepsen/workload/claim"),
	"jepsen/workload/set":           workload,
	"jepsen/workload/timer":         workload,
	"jepsen/workload/tokens":        append(workload, "access"),
	"jepsen/workload/turn":          workload,
	"jepsen/workload/vectors":       workload,
	"jepsen/workload/watch":         workload,
	"jepsen/workload/catalog": {
		"jepsen/workload",
		"jepsen/workload/appends", "jepsen/workload/cells", "jepsen/workload/changes", "jepsen/workload/claim", "jepsen/workload/conversations", "jepsen/workload/dedupe", "jepsen/workload/deletes", "jepsen/workload/erase",
		"jepsen/workload/export", "jepsen/workload/fork", "jepsen/workload/hibernate", "jepsen/workload/instance", "jepsen/workload/lists", "jepsen/workload/plan", "jepsen/workload/pod", "jepsen/workload/quota",
		"jepsen/workload/recall", "jepsen/workload/register", "jepsen/workload/review", "jepsen/workload/session", "jepsen/workload/set",
		"jepsen/workload/timer", "jepsen/workload/tokens", "jepsen/workload/turn", "jepsen/workload/vectors", "jepsen/workload/watch",
	},
	"jepsen/workload/workloadtest": {"jepsen/check", "jepsen/history", "jepsen/workload"},
}

// workload lists what every workload may import. It has no room to grow into, so
// appending to it makes a copy.
var workload = slices.Clip([]string{"agent", "jepsen/check", "jepsen/history", "jepsen/model", "jepsen/workload"})

// home names the only packages that may import a third-party module.
var home = map[string][]string{
	"filippo.io/age": {"backup", "internal/faultstest"},
	"github.com/HdrHistogram/hdrhistogram-go": {"bench/load"},
	"github.com/KimMachineGun/automemlimit":   {"internal/memory"},
	"github.com/CycloneDX/cyclonedx-go":       {"internal/release"},
	"github.com/anishathalye/porcupine":       {"jepsen/model"},
	"github.com/blevesearch":                  {"recall"},
	"github.com/charmbracelet/x/ansi":         {"cmd/dormctl/top"},
	"charm.land/bubbletea/v2":                 {"cmd/dormctl/top"},
	"github.com/clipperhouse/uax29/v2":        {"recall"},
	"github.com/cockroachdb/pebble/v2":        {"jepsen/sim/simdisk", "storage"},
	"github.com/coreos/go-systemd/v22":        {"cmd/node"},
	"github.com/coreos/go-oidc/v3":            {"access/oidc"},
	"github.com/dustin/go-humanize":           {"config", "internal/memory"},
	"github.com/hanwen/go-fuse/v2":            {"jepsen/testbed/disk"},
	"github.com/hashicorp/go-msgpack/v2":      {"cluster/raftrpc"},
	"github.com/hashicorp/memberlist":         {"cluster/gossip", "cluster/gossip/gossiptest", "jepsen/sim/simnet"},
	"github.com/hashicorp/raft":               {"cluster", "cluster/membership", "cluster/proposer", "cluster/raftlog", "cluster/raftrpc", "cluster/transport", "fsm", "fsm/snapshot"},
	"github.com/hashicorp/raft-boltdb":        {"cluster/raftlog"},
	"github.com/hashicorp/raft-wal":           {"cluster/raftlog", "jepsen/sim/simdisk"},
	"github.com/netresearch/go-cron":          {"internal/cron"},
	"github.com/redis/go-redis/v9":            {"jepsen/redisclient"},
	"github.com/vishvananda/netlink":          {"jepsen/testbed/packet"},
	"github.com/vishvananda/netns":            {"jepsen/testbed/packet"},
	"golang.org/x/mod":                        {"internal/sdkgo"},
	"gonum.org/v1/plot":                       {"bench/report", "jepsen/report"},
	"google.golang.org/grpc":                  {"client", "cluster/peer", "host", "jepsen", "jepsen/sim", "node", "node/nodetest", "proto/api", "proto/codec", "proto/peer", "server/grpc"},
}

func TestImportDirection(t *testing.T) {
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(fields[0], module+"/")
		if strings.HasPrefix(pkg, "internal/") {
			continue
		}
		allowed, known := mayImport[pkg]
		if !known {
			t.Errorf("%s is not in the package map", pkg)
		}
		for _, imp := range fields[1:] {
			ours, mine := strings.CutPrefix(imp, module+"/")
			if mine && !strings.HasPrefix(ours, "internal/") && !slices.Contains(allowed, ours) {
				t.Errorf("%s may not import %s", pkg, ours)
			}
			checkHome(t, pkg, imp)
		}
	}
}

// checkHome fails the test where pkg imports a library that lives elsewhere.
func checkHome(t *testing.T, pkg, imp string) {
	t.Helper()
	for lib, pkgs := range home {
		if (imp == lib || strings.HasPrefix(imp, lib+"/")) && !slices.Contains(pkgs, pkg) {
			t.Errorf("%s may not import %s; its home is %v", pkg, lib, pkgs)
		}
	}
}
