package config

import "github.com/spf13/pflag"

// flagKeys maps each flag to its setting.
var flagKeys = map[string]string{ // :: flag → key
	"dev":              "node.dev",
	"ephemeral":        "node.ephemeral",
	"node-id":          "node.id",
	"data-dir":         "node.data_dir",
	"insecure":         "node.insecure",
	"stop-timeout":     "node.stop_timeout",
	"http-addr":        "http.addr",
	"http-advertise":   "http.advertise",
	"grpc-addr":        "grpc.addr",
	"grpc-advertise":   "grpc.advertise",
	"redis-addr":       "redis.addr",
	"raft-addr":        "raft.addr",
	"raft-advertise":   "raft.advertise",
	"log-store":        "raft.log_store",
	"accept-damage":    "raft.accept_damage",
	"gossip-addr":      "gossip.addr",
	"gossip-advertise": "gossip.advertise",
	"bootstrap":        "cluster.bootstrap",
	"expect":           "cluster.expect",
	"join":             "cluster.join",
	"cluster-key-file": "cluster.key_file",
	"join-token-file":  "cluster.join_token_file",
	"auth":             "auth.mode",
	"root-token-file":  "auth.root_token_file",
	"log-level":        "log.level",
	"log-format":       "log.format",
}

// Flags defines the flags of settings. Their defaults are only for --help: a flag that is not given
// sets nothing.
func Flags(fs *pflag.FlagSet) {
	d := Default()
	fs.Bool("dev", false, "one node that founds its own cluster, on loopback, data in "+dataDirDefault)
	fs.Bool("ephemeral", false, "keep nothing on disk: all data is lost when the node stops")
	fs.String("node-id", "", "this node's name, unique in the cluster; the name of a node that left can be reused with an empty data directory")
	fs.String("data-dir", "", "where the node keeps its data (default "+dataDirDefault+")")
	fs.Bool("insecure", false, "allow addresses other than loopback without TLS, and calls without credentials unless --auth says otherwise")
	fs.Duration("stop-timeout", d.Node.StopTimeout, "how long an orderly stop may take")
	fs.String("http-addr", d.HTTP.Addr, "address of the HTTP API")
	fs.String("http-advertise", "", "address at which others reach the HTTP API (default --http-addr)")
	fs.String("grpc-addr", d.GRPC.Addr, "address of the gRPC API")
	fs.String("grpc-advertise", "", "address at which others reach the gRPC API (default --grpc-addr)")
	fs.String("redis-addr", "", "address for clients of Redis, such as 127.0.0.1:7604 (default: none)")
	fs.String("raft-addr", d.Raft.Addr, "address for other nodes")
	fs.String("raft-advertise", "", "address at which other nodes reach this one (default --raft-addr)")
	fs.String("log-store", d.Raft.LogStore, "store of the Raft log: wal or bolt")
	fs.Bool("accept-damage", false, "vote even if the end of the log is missing: entries that only this node had acknowledged are lost")
	fs.String("gossip-addr", d.Gossip.Addr, "address for gossip")
	fs.String("gossip-advertise", "", "address at which others reach gossip (default --gossip-addr)")
	fs.Bool("bootstrap", false, "found a cluster once every --join address has answered that it belongs to none")
	fs.Int("expect", 0, "found a cluster once so many nodes have met and none belongs to one; give it to all of them")
	fs.StringSlice("join", nil, "Raft address of a node; repeatable, and the same list on all nodes")
	fs.String("cluster-key-file", "", "secret of the cluster, the same on all nodes (default cluster.key in the data directory)")
	fs.String("join-token-file", "", "join token, with which a node without a cluster key receives it")
	fs.String("auth", "", "credentials that clients must have: tokens, or off (default tokens; off for --dev on loopback and with --insecure)")
	fs.String("root-token-file", "", "file of the cluster's first token: read if it exists, otherwise written with mode 0600 (default: the token is printed once)")
	fs.String("log-level", d.Log.Level, "trace, debug, info, warn or error")
	fs.String("log-format", d.Log.Format, "text or json")
}
