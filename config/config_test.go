package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"dormouse/config"
)

// sources are settings in a test: YAML, environment, arguments.
type sources struct {
	yaml string
	env  []string
	args []string
}

func load(t *testing.T, s sources) (config.Config, error) {
	t.Helper()
	file := ""
	if s.yaml != "" {
		file = filepath.Join(t.TempDir(), "dormouse.yaml")
		if err := os.WriteFile(file, []byte(s.yaml), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flags := pflag.NewFlagSet("dormoused", pflag.ContinueOnError)
	config.Flags(flags)
	if err := flags.Parse(s.args); err != nil {
		t.Fatal(err)
	}
	return config.Load(config.Sources{File: file, Environ: s.env, Flags: flags})
}

func TestDefaultsOfADevNode(t *testing.T) {
	got, err := load(t, sources{args: []string{"--dev"}})
	if err != nil {
		t.Fatal(err)
	}
	want := config.Config{
		Node: config.Node{ID: "dev", DataDir: "./dormouse-data", Dev: true, StopTimeout: 20 * time.Second},
		HTTP: config.HTTP{Addr: "127.0.0.1:7600", Advertise: "127.0.0.1:7600", Hosts: []string{}, Origins: []string{}, Compress: true, Console: true},
		GRPC: config.Listen{Addr: "127.0.0.1:7601", Advertise: "127.0.0.1:7601"},
		Raft: config.Raft{
			Addr: "127.0.0.1:7602", Advertise: "127.0.0.1:7602", LogStore: "wal", ReadBarrier: "index", Decide: config.DecideLeader, LeaderWrite: config.LeaderWriteParallel,
			SnapshotBytes: 256 << 20, SnapshotEntries: 100_000, TrailingBytes: 64 << 20, TrailingEntries: 100_000, EntryCommits: 1024,
		},
		Gossip:    config.Gossip{Addr: "127.0.0.1:7603", Advertise: "127.0.0.1:7603"},
		Cluster:   config.Cluster{Bootstrap: true, Join: []string{}, Timing: "lan", DeadAfter: 5 * time.Minute},
		Auth:      config.Auth{Mode: config.AuthOff, CertificateRules: []config.CertificateRule{}, OIDCAlgorithms: []string{"RS256", "ES256"}, OIDCClaim: "sub", OIDCRules: []config.OIDCRule{}},
		Audit:     config.Audit{Enabled: true, FileBytes: 64 << 20, Files: 8, OnFailure: config.AuditRefuse},
		Placement: config.Placement{Lease: 1500 * time.Millisecond, Weight: 100},
		Instances: config.Instances{HTTPAllow: []string{}, Keys: []string{}},
		Backup:    config.Default().Backup,
		Log:       config.Log{Level: "info", Format: "text", SlowCall: time.Second},
		Tracing:   config.Tracing{Sample: 0.01},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestAnEphemeralNodeHasNoDataDir(t *testing.T) {
	got, err := load(t, sources{args: []string{"--dev", "--ephemeral"}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Node.DataDir != "" {
		t.Fatalf("data_dir = %q", got.Node.DataDir)
	}
}

func TestLaterSourcesOverrideEarlierOnes(t *testing.T) {
	file := "node:\n  id: file\nlog:\n  level: warn\ncluster:\n  join: [a:1, b:2]\n"
	for _, test := range []struct {
		name      string
		s         sources
		id, level string
		join      []string
	}{
		{"the file outdoes the defaults", sources{yaml: file}, "file", "warn", []string{"a:1", "b:2"}},
		{
			"the environment outdoes the file",
			sources{yaml: file, env: []string{"DORMOUSE_NODE__ID=env", "DORMOUSE_CLUSTER__JOIN=c:3, d:4", "OTHER__KEY=1"}},
			"env", "warn",
			[]string{"c:3", "d:4"},
		},
		{
			"flags outdo the environment",
			sources{
				yaml: file, env: []string{"DORMOUSE_NODE__ID=env", "DORMOUSE_LOG__LEVEL=error"},
				args: []string{"--node-id", "flag", "--join", "e:5", "--join", "f:6,g:7"},
			},
			"flag", "error",
			[]string{"e:5", "f:6", "g:7"},
		},
		{
			"a flag that names its default still counts",
			sources{yaml: file, args: []string{"--log-level", "info"}},
			"file", "info",
			[]string{"a:1", "b:2"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := load(t, test.s)
			if err != nil {
				t.Fatal(err)
			}
			if got.Node.ID != test.id || got.Log.Level != test.level {
				t.Errorf("id %q level %q, want %q %q", got.Node.ID, got.Log.Level, test.id, test.level)
			}
			if diff := cmp.Diff(test.join, got.Cluster.Join); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSchedulersVariablesAreLeftAlone(t *testing.T) {
	env := []string{"DORMOUSE_PORT=tcp://10.0.0.1:7600", "DORMOUSE_SERVICE_HOST=10.0.0.1", "DORMOUSE_ENDPOINTS=x:1"}
	if _, err := load(t, sources{env: env, args: []string{"--dev"}}); err != nil {
		t.Fatal(err)
	}
}

func TestEverySectionMayBeEmpty(t *testing.T) {
	file := "node:\nhttp:\ngrpc: {}\ncluster:\n  join:\nlog:\n  level:\n"
	if _, err := load(t, sources{yaml: file, args: []string{"--dev"}}); err != nil {
		t.Fatal(err)
	}
}

// Rules are lists in the file, and YAML in the environment. What is printed loads to the same.
func TestRulesAreReadFromTheFileAndTheEnvironment(t *testing.T) {
	want := []config.OIDCRule{{Claim: "groups", Value: "ops", Grants: []config.Grant{{Scopes: []string{"team-*"}, Verbs: []string{"read", "write"}}, {Verbs: []string{"cluster:read"}}}}}
	const rules = `[{claim: groups, value: ops, grants: [{scopes: [team-*], verbs: [read, write]}, {verbs: ["cluster:read"]}]}]`
	issuer := "auth: {oidc_issuer: \"https://id.example.com\", oidc_audience: dormouse"
	for name, s := range map[string]sources{
		"file":        {yaml: "node: {id: n1}\n" + issuer + ", oidc_rules: " + rules + "}\n"},
		"environment": {yaml: "node: {id: n1}\n" + issuer + "}\n", env: []string{"DORMOUSE_AUTH__OIDC_RULES=" + rules}},
	} {
		c, err := load(t, s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, c.Auth.OIDCRules); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		var printed strings.Builder
		if err := c.Print(&printed); err != nil {
			t.Fatal(err)
		}
		again, err := load(t, sources{yaml: printed.String()})
		if err != nil || cmp.Diff(c.Auth, again.Auth) != "" {
			t.Errorf("%s: %v\n%s\n%s", name, err, printed.String(), cmp.Diff(c.Auth, again.Auth))
		}
	}
	if _, err := load(t, sources{env: []string{"DORMOUSE_NODE__ID=n1", "DORMOUSE_AUTH__OIDC_RULES=groups"}}); err == nil {
		t.Error("a text is accepted as rules")
	}
}

func TestUnknownKeysNameTheNearest(t *testing.T) {
	for _, test := range []struct {
		name string
		s    sources
		want string
	}{
		{"a misspelt key", sources{yaml: "node:\n  data_dri: /x\n"}, `there is no setting "node.data_dri"; did you mean "node.data_dir"?`},
		{"a misspelt section", sources{yaml: "nodes:\n  id: x\n"}, `there is no setting "nodes.id"; did you mean "node.id"?`},
		{"a key in the wrong section", sources{yaml: "node:\n  log_store: bolt\n"}, `did you mean "raft.log_store"?`},
		{"a key without its section", sources{yaml: "bootstrap: true\n"}, `did you mean "cluster.bootstrap"?`},
		{"a section with a value", sources{yaml: "http: 7600\n"}, `"http" is a section, not a setting; set what is in it, such as "http.addr"`},
		{"a setting with a section", sources{yaml: "http:\n  addr:\n    port: 1\n"}, `there is no setting "http.addr.port"; did you mean "http.addr"?`},
		{"the environment", sources{env: []string{"DORMOUSE_NODE__IDD=x"}}, `there is no setting "DORMOUSE_NODE__IDD"; did you mean "DORMOUSE_NODE__ID"?`},
		{"two at once", sources{yaml: "log:\n  levl: x\n  formt: y\n"}, "2 problems"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := load(t, test.s)
			wantProblem(t, err, test.want)
		})
	}
}

func TestBadValuesAreRefusedWithWhatToDo(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.pem")
	ok := "node:\n  id: n1\n"
	for _, test := range []struct {
		name string
		s    sources
		want string
	}{
		{"no node id", sources{}, "such as --node-id n1"},
		{"node id with a space", sources{args: []string{"--node-id", "a b"}}, "use letters, digits"},
		{"node id too long", sources{args: []string{"--node-id", strings.Repeat("x", 65)}}, "at most 64"},
		{"ephemeral with a data dir", sources{args: []string{"--dev", "--ephemeral", "--data-dir", "x"}}, "drop --data-dir or --ephemeral"},
		{"ephemeral without a cluster", sources{args: []string{"--node-id", "n1", "--ephemeral"}}, "--bootstrap or --join"},
		{"expecting less than nothing", sources{args: []string{"--node-id", "n1", "--expect", "-1"}}, "cluster.expect is -1: use 1 to 9"},
		{"expecting too many", sources{args: []string{"--node-id", "n1", "--expect", "10", "--join", "h:1"}}, "cluster.expect is 10: use 1 to 9"},
		{"expecting nobody that is known", sources{args: []string{"--node-id", "n1", "--expect", "3"}}, "cluster.join names no node"},
		{"expecting one other that is not known", sources{args: []string{"--node-id", "n1", "--expect", "2"}}, "cluster.join names no node"},
		{"expecting and founding alone", sources{args: []string{"--node-id", "n1", "--expect", "3", "--bootstrap", "--join", "h:1"}}, "both set"},
		{"dev with join", sources{args: []string{"--dev", "--join", "h:1"}}, "drop --dev"},
		{"any origin", sources{yaml: ok + "http:\n  origins: ['*']\n"}, `http.origins has "*", and should have origins as browsers send them`},
		{"an origin with a path", sources{yaml: ok + "http:\n  origins: [https://app.example.com/]\n"}, "https://app.example.com"},
		{"an origin without a scheme", sources{yaml: ok + "http:\n  origins: [app.example.com]\n"}, "http.origins"},
		{"an origin with a wildcard", sources{yaml: ok + "http:\n  origins: ['https://*.example.com']\n"}, "http.origins"},
		{"no port", sources{yaml: ok + "http:\n  addr: 127.0.0.1\n"}, `http.addr "127.0.0.1" is no address to listen on: write host:port, such as 127.0.0.1:7600`},
		{"a port by name", sources{yaml: ok + "raft:\n  addr: 127.0.0.1:raft\n"}, "raft.addr"},
		{"a port out of range", sources{yaml: ok + "grpc:\n  addr: 127.0.0.1:70000\n"}, "grpc.addr"},
		{"a port of Redis twice", sources{args: []string{"--dev", "--redis-addr", "127.0.0.1:7601"}}, "redis.addr is 127.0.0.1:7601, which grpc.addr already uses"},
		{"no port of Redis", sources{yaml: ok + "redis:\n  addr: localhost\n"}, "such as 127.0.0.1:7604"},
		{"half a certificate of Redis", sources{yaml: ok + "redis: {addr: \"127.0.0.1:7604\", cert_file: /dev/null}\n"}, "redis.cert_file and redis.key_file go together"},
		{"Redis off loopback without tokens", sources{args: []string{"--dev", "--auth", "off", "--redis-addr", "0.0.0.0:7604"}}, "redis.addr 0.0.0.0:7604: use auth.mode tokens"},
		{"one port twice", sources{args: []string{"--dev", "--grpc-addr", "127.0.0.1:7600"}}, "which http.addr already uses"},
		{"a certificate that verifies no other node", sources{yaml: "node: {id: n1}\nraft: {addr: \"10.0.0.1:7602\", cert_file: " + missing + ", key_file: " + missing + "}\n"}, "raft.ca_file is missing"},
		{"a cluster key that is not there", sources{args: []string{"--dev", "--cluster-key-file", missing}}, "cluster.key_file: cannot read it"},
		{"nothing to advertise", sources{args: []string{"--dev", "--insecure", "--raft-addr", ":7602"}}, "raft.advertise is missing"},
		{"advertising every interface", sources{args: []string{"--dev", "--raft-advertise", "0.0.0.0:7602"}}, "not an address that others can reach"},
		{"joining without a port", sources{args: []string{"--node-id", "n1", "--join", "n2"}}, "with its Raft port"},
		{"a log store that is not there", sources{args: []string{"--dev", "--log-store", "rocks"}}, "use one of wal, bolt"},
		{"a level that is not there", sources{args: []string{"--dev", "--log-level", "loud"}}, "use one of trace, debug"},
		{"a format that is not there", sources{args: []string{"--dev", "--log-format", "xml"}}, "use one of text, json"},
		{"a slow call that is negative", sources{args: []string{"--dev"}, yaml: "log:\n  slow_call: -1s\n"}, "log.slow_call is -1s: use 0 to 10m0s"},
		{"a slow call beyond all calls", sources{args: []string{"--dev"}, yaml: "log:\n  slow_call: 10m1s\n"}, "use 0 to 10m0s"},
		{"a share above one", sources{args: []string{"--dev"}, yaml: "tracing:\n  sample: 1.01\n"}, "tracing.sample is 1.01: use a share from 0 to 1"},
		{"a share below zero", sources{args: []string{"--dev"}, yaml: "tracing:\n  sample: -0.1\n"}, "use a share from 0 to 1"},
		{"a share that is no number", sources{args: []string{"--dev"}, yaml: "tracing:\n  sample: .nan\n"}, "use a share from 0 to 1"},
		{"a collector without a scheme", sources{args: []string{"--dev"}, yaml: "tracing:\n  endpoint: collector:4318\n"}, "use the http or https URL of a collector"},
		{"headers in the clear", sources{args: []string{"--dev"}, yaml: "tracing:\n  endpoint: http://10.0.0.9:4318\n  headers_file: /dev/null\n"}, "tracing.endpoint \"http://10.0.0.9:4318\" is reached without TLS"},
		{"headers that are not there", sources{args: []string{"--dev"}, yaml: "tracing:\n  headers_file: /none\n"}, "tracing.headers_file"},
		{"a timing that is not there", sources{yaml: ok + "cluster:\n  timing: fast\n"}, "use one of lan, wan"},
		{"a lease that is too short", sources{yaml: ok + "placement:\n  lease: 499ms\n"}, "placement.lease is 499ms: use 500ms to 10m0s with the timing lan"},
		{"a lease that no node renews in time", sources{yaml: ok + "cluster:\n  timing: wan\nplacement:\n  lease: 999ms\n"}, "placement.lease is 999ms: use 1s to 10m0s with the timing wan"},
		{"a zone with a space", sources{yaml: ok + "placement:\n  zone: a b\n"}, "placement.zone \"a b\""},
		{"no weight", sources{yaml: ok + "placement:\n  weight: 0\n"}, "placement.weight is 0: use 1 to 10000"},
		{"a cache that is too small", sources{yaml: ok + "storage:\n  cache_bytes: 1048575\n"}, "storage.cache_bytes is 1048575: use 1048576 to"},
		{"memory without a number", sources{yaml: ok + "storage:\n  memory: plenty\n"}, "storage.memory is \"plenty\": write a number and a unit, such as 512MiB"},
		{"memory with an unknown unit", sources{env: []string{"DORMOUSE_NODE__ID=n1", "DORMOUSE_STORAGE__MEMORY=5 parsecs"}}, "storage.memory is \"5 parsecs\""},
		{"negative memory", sources{yaml: ok + "storage:\n  memory: -1GiB\n"}, "storage.memory is \"-1GiB\""},
		{"no memory", sources{yaml: ok + "storage:\n  memory: 0\n"}, "storage.memory is \"0\""},
		{"memory that the process alone takes", sources{yaml: ok + "storage:\n  memory: 67108863\n"}, "storage.memory is 67108863: use 64 MiB to 64 TiB"},
		{"memory that no machine has", sources{yaml: ok + "storage:\n  memory: 65TiB\n"}, "storage.memory is 65TiB: use"},
		{"a size with a unit", sources{yaml: ok + "storage:\n  cache_bytes: 64MiB\n"}, "storage.cache_bytes: not a whole number"},
		{"a negative reserve", sources{yaml: ok + "limits:\n  disk_reserve_bytes: -1\n"}, "limits.disk_reserve_bytes is -1"},
		{"snapshots without end", sources{yaml: ok + "raft:\n  snapshot_bytes: 1000\n"}, "raft.snapshot_bytes is 1000: use 65536 to"},
		{"a log without end", sources{env: []string{"DORMOUSE_NODE__ID=n1", "DORMOUSE_RAFT__SNAPSHOT_BYTES=2000000000000"}}, "raft.snapshot_bytes is 2000000000000"},
		{"snapshots of nothing", sources{yaml: ok + "raft:\n  snapshot_entries: 0\n"}, "raft.snapshot_entries is 0: use 50 to"},
		{"a log that keeps less than can be counted", sources{yaml: ok + "raft:\n  trailing_bytes: 1\n"}, "raft.trailing_bytes is 1: use 65536 to"},
		{"entries without commits", sources{yaml: ok + "raft:\n  entry_commits: 0\n"}, "raft.entry_commits is 0: use 1 to 1024"},
		{"entries of too many commits", sources{yaml: ok + "raft:\n  entry_commits: 1025\n"}, "raft.entry_commits is 1025: use 1 to 1024"},
		{"a log that keeps nothing", sources{yaml: ok + "raft:\n  trailing_entries: 0\n"}, "raft.trailing_entries is 0: use 1 to"},
		{"stopping in no time", sources{args: []string{"--dev", "--stop-timeout", "1ms"}}, "use 1s to 10m0s"},
		{"a duration without a unit", sources{yaml: ok + "  stop_timeout: soon\n"}, "node.stop_timeout: not a duration"},
		{"a boolean that is none", sources{yaml: ok + "  insecure: perhaps\n"}, "node.insecure: write true or false"},
		{"a list for an address", sources{yaml: ok + "http:\n  addr: [a, b]\n"}, "http.addr: expected type 'string'"},
		{"a certificate without a key", sources{yaml: ok + "http:\n  cert_file: " + missing + "\n"}, "set both or neither"},
		{"an even number of voters", sources{yaml: ok + "cluster: {voters: 4}\n"}, "cluster.voters is 4"},
		{"a restart counts as a death", sources{yaml: ok + "cluster: {dead_after: 9s}\n"}, "cluster.dead_after is 9s"},
		{"a ca without a certificate", sources{yaml: ok + "http:\n  ca_file: " + missing + "\n"}, "set http.cert_file and http.key_file too"},
		{"a file that is not there", sources{yaml: ok + "gossip:\n  key_file: " + missing + "\n"}, "gossip.key_file: cannot read it"},
		{"an audit file that is too small", sources{yaml: ok + "audit:\n  file_bytes: 1048575\n"}, "audit.file_bytes is 1048575: use 1048576 to"},
		{"one audit file", sources{yaml: ok + "audit:\n  files: 1\n"}, "audit.files is 1: use 2 to 10000"},
		{"too many audit files", sources{yaml: ok + "audit:\n  files: 10001\n"}, "audit.files is 10001"},
		{"an audit log that does something else on failure", sources{yaml: ok + "audit:\n  on_failure: ignore\n"}, "use one of refuse, continue"},
		{"an audit webhook that is no URL", sources{yaml: ok + "audit:\n  webhook_url: logs\n"}, "audit.webhook_url \"logs\" is not a URL"},
		{"an audit webhook without TLS", sources{yaml: ok + "audit:\n  webhook_url: http://logs.example.com\n"}, "use https"},
		{"an audit webhook without a log", sources{yaml: ok + "audit:\n  enabled: false\n  webhook_url: https://logs.example.com\n"}, "enable the log"},
		{"an authority without rules", sources{yaml: ok + "auth:\n  certificate_ca_file: " + missing + "\n"}, "go together"},
		{"a rule without a name", sources{yaml: ok + "auth:\n  certificate_ca_file: " + missing + "\n  certificate_rules: [{grants: [{verbs: [read]}]}]\n"}, "rule 1 names 0 of"},
		{"a rule with two names", sources{yaml: ok + "auth:\n  certificate_ca_file: " + missing + "\n  certificate_rules: [{cn: a, dns: b, grants: [{verbs: [read]}]}]\n"}, "rule 1 names 2 of"},
		{"a rule without grants", sources{yaml: ok + "auth:\n  certificate_ca_file: " + missing + "\n  certificate_rules: [{cn: a}]\n"}, "rule 1 has no grants"},
		{"a rule with a misspelt member", sources{yaml: ok + "auth:\n  certificate_rules: [{cm: a, grants: [{verbs: [read]}]}]\n"}, "has invalid keys: cm"},
		{"certificates without TLS", sources{yaml: ok + "auth:\n  certificate_ca_file: " + missing + "\n  certificate_rules: [{cn: a, grants: [{verbs: [read]}]}]\n"}, "neither HTTP nor gRPC use TLS"},
		{"an issuer without an audience", sources{yaml: ok + "auth:\n  oidc_issuer: https://id.example.com\n"}, "auth.oidc_audience is missing"},
		{"an issuer without TLS", sources{yaml: ok + "auth:\n  oidc_issuer: http://id.example.com\n  oidc_audience: d\n"}, "use https"},
		{"a symmetric algorithm", sources{yaml: ok + "auth:\n  oidc_issuer: https://id.example.com\n  oidc_audience: d\n  oidc_algorithms: [HS256]\n"}, "auth.oidc_algorithms is \"HS256\""},
		{"no algorithm", sources{yaml: ok + "auth:\n  oidc_issuer: https://id.example.com\n  oidc_audience: d\n  oidc_algorithms: [none]\n"}, "auth.oidc_algorithms is \"none\""},
		{"a rule for no value", sources{yaml: ok + "auth:\n  oidc_issuer: https://id.example.com\n  oidc_audience: d\n  oidc_rules: [{claim: groups, grants: [{verbs: [read]}]}]\n"}, "rule 1 needs a claim and a value"},
		{"a rule of an issuer without grants", sources{yaml: ok + "auth:\n  oidc_issuer: https://id.example.com\n  oidc_audience: d\n  oidc_rules: [{claim: groups, value: a}]\n"}, "rule 1 has no grants"},
		{"a rule of an issuer without verbs", sources{yaml: ok + "auth:\n  oidc_issuer: https://id.example.com\n  oidc_audience: d\n  oidc_rules: [{claim: groups, value: a, grants: [{scopes: [a]}]}]\n"}, "rule 1 has a grant without verbs"},
		{"rules without an issuer", sources{yaml: ok + "auth:\n  oidc_rules: [{claim: groups, value: a, grants: [{verbs: [read]}]}]\n"}, "auth.oidc_issuer is missing"},
		{"an issuer for a node that asks for nothing", sources{yaml: ok + "auth:\n  mode: \"off\"\n  oidc_issuer: https://id.example.com\n  oidc_audience: d\n"}, "auth.mode is off"},
		{"not YAML", sources{yaml: "node: [\n"}, "not readable as YAML"},
		{"a key twice", sources{yaml: "node:\n  id: a\n  id: b\n"}, "not readable as YAML"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := load(t, test.s)
			wantProblem(t, err, test.want)
		})
	}
}

func TestEveryProblemIsShownAtOnce(t *testing.T) {
	_, err := load(t, sources{args: []string{"--log-level", "x", "--log-format", "y"}})
	var problems *config.Error
	if !errors.As(err, &problems) || len(problems.Problems) != 3 {
		t.Fatalf("got %v", err)
	}
}

func TestAMissingFileIsAProblem(t *testing.T) {
	_, err := config.Load(config.Sources{File: filepath.Join(t.TempDir(), "none.yaml")})
	wantProblem(t, err, "--config: cannot read the file")
	_, err = config.Load(config.Sources{File: t.TempDir()})
	wantProblem(t, err, "is a directory")
}

func TestInsecureAllowsListeningAnywhere(t *testing.T) {
	args := []string{"--dev", "--insecure", "--http-addr", ":7600", "--http-advertise", "h:7600", "--gossip-addr", "10.0.0.1:7603"}
	if _, err := load(t, sources{args: args}); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsPrintedLoadsToTheSame(t *testing.T) {
	for _, args := range [][]string{
		{"--dev"},
		{"--dev", "--ephemeral"},
		{
			"--node-id", "n1", "--data-dir", "/tmp/a: b #c", "--join", "a:1", "--join", "b:2", "--bootstrap",
			"--insecure", "--http-addr", "[::]:80", "--http-advertise", "n1:80", "--stop-timeout", "90s", "--log-store", "bolt",
		},
	} {
		want, err := load(t, sources{args: args})
		if err != nil {
			t.Fatal(err)
		}
		var printed strings.Builder
		if err := want.Print(&printed); err != nil {
			t.Fatal(err)
		}
		got, err := load(t, sources{yaml: printed.String()})
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, printed.String())
		}
		if want.Node.DataDir != "" { // printed paths are absolute, so that the file may be anywhere
			if want.Node.DataDir, err = filepath.Abs(want.Node.DataDir); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v: %s", args, diff)
		}
	}
}

func TestPathsInAFileAreRelativeToIt(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	t.Chdir(other)
	file := filepath.Join(dir, "n1.yaml")
	text := `node: {id: n1, data_dir: data}
http: {addr: "127.0.0.1:7600", cert_file: certs/n1.pem, key_file: ` + other + `/n1.key}
gossip: {key_file: gossip.key}
instances: {keys: ["a=keys/a", "b=/etc/b"]}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir + "/certs/n1.pem", dir + "/gossip.key", other + "/n1.key", other + "/r.pem", other + "/r.key", other + "/ca.pem"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(config.Sources{File: file, Environ: []string{"DORMOUSE_RAFT__CA_FILE=ca.pem", "DORMOUSE_RAFT__CERT_FILE=r.pem", "DORMOUSE_RAFT__KEY_FILE=r.key"}})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{c.Node.DataDir, c.HTTP.CertFile, c.HTTP.KeyFile, c.Gossip.KeyFile, c.Instances.Keys[0], c.Instances.Keys[1], c.Raft.CAFile}
	want := []string{
		filepath.Join(dir, "data"), filepath.Join(dir, "certs/n1.pem"), filepath.Join(other, "n1.key"), filepath.Join(dir, "gossip.key"),
		"a=" + filepath.Join(dir, "keys/a"), "b=/etc/b", "ca.pem",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

func wantProblem(t *testing.T, err error, want string) {
	t.Helper()
	var problems *config.Error
	if !errors.As(err, &problems) {
		t.Fatalf("got %v, want a *config.Error", err)
	}
	if !strings.Contains(err.Error(), want) {
		t.Fatalf("got %q, want %q in it", err, want)
	}
}

func TestTheScheduleOfBackups(t *testing.T) {
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	last := at("2026-11-25T12:00:00Z")
	for want, b := range map[string]config.Backup{
		"2026-11-25T18:00:00Z": {Every: 6 * time.Hour},
		"2026-11-26T03:00:00Z": {Every: 6 * time.Hour, Cron: "0 3 * * *"},
		"2026-11-26T02:00:00Z": {Cron: "0 3 * * *", TimeZone: "Europe/Paris"},
	} {
		if due := b.Due(last); !due.Equal(at(want)) {
			t.Errorf("%+v: due at %v, want %s", b, due, want)
		}
		if due := b.Due(time.Time{}); due.After(last) {
			t.Errorf("%+v: the first one is due at %v", b, due)
		}
	}
}

// The segments of the log that is kept fit the lists of the backups.
func TestTheShippedLogHasABound(t *testing.T) {
	for settings, ok := range map[string]bool{
		"LOG_EVERY=1s": true, "LOG_EVERY=1s KEEP_LOG=288h": false, "KEEP_LOG=2880h": false, "KEEP_LOG=1900h": true, "LOG_EVERY=0s KEEP_LOG=8784h": true,
		"LOG_EVERY=1s EVERY=720h": false, "LOG_EVERY=1s CRON=@daily": true, "LOG_EVERY=1s CRON=@weekly": false, "LOG_EVERY=1s CRON=@weekly KEEP_LOG=24h": true,
	} {
		environ := []string{"DORMOUSE_NODE__DEV=true"}
		for setting := range strings.FieldsSeq(settings) {
			environ = append(environ, "DORMOUSE_BACKUP__"+setting)
		}
		_, err := config.Load(config.Sources{Environ: environ})
		if ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "at most 700000") {
			t.Errorf("%s: %v", settings, err)
		}
	}
}

func TestSettingsOfBackupsHaveBounds(t *testing.T) {
	for setting, says := range map[string]string{
		"BACKUP__EVERY=59s": "use 1m0s to 720h0m0s", "BACKUP__EVERY=721h": "backup.every", "BACKUP__LOG_EVERY=999ms": "backup.log_every is 999ms: use 1s to 1h0m0s",
		"BACKUP__LOG_BYTES=65535": "backup.log_bytes", "BACKUP__LOG_BYTES=67108865": "backup.log_bytes", "BACKUP__KEEP=0": "backup.keep is 0: use 1 to 10000",
		"BACKUP__KEEP_DAILY=-1": "backup.keep_daily", "BACKUP__KEEP_LOG=8785h": "backup.keep_log", "BACKUP__CRON=* * *": "backup.cron", "BACKUP__KEEP_WEEKLY=10001": "backup.keep_weekly",
	} {
		_, err := config.Load(config.Sources{Environ: []string{"DORMOUSE_NODE__DEV=true", "DORMOUSE_" + setting}})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", setting, err, says)
		}
	}
	for _, setting := range []string{"BACKUP__EVERY=1m", "BACKUP__EVERY=720h", "BACKUP__LOG_EVERY=0s", "BACKUP__LOG_EVERY=1s", "BACKUP__LOG_BYTES=65536", "BACKUP__LOG_BYTES=67108864", "BACKUP__KEEP=1", "BACKUP__KEEP_LOG=0s", "BACKUP__CRON=@daily"} {
		if _, err := config.Load(config.Sources{Environ: []string{"DORMOUSE_NODE__DEV=true", "DORMOUSE_" + setting}}); err != nil {
			t.Errorf("%s: %v", setting, err)
		}
	}
	c, err := config.Load(config.Sources{Environ: []string{"DORMOUSE_NODE__DEV=true", "DORMOUSE_BACKUP__RECIPIENTS=age1a,age1b"}})
	if err != nil || len(c.Backup.Recipients) != 2 {
		t.Errorf("recipients %v, %v", c.Backup.Recipients, err)
	}
}
