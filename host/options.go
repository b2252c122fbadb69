package host

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/cluster"
	"dormouse/instance"
)

// Options say what a host is like; the zero value of each is its default, but
// for Name and Join.
type Options struct {
	Name      string   // unique in the cluster while the host is up
	Join      []string // peer addresses of nodes (their raft.addr); the others are learned
	Listen    string   // where nodes and other hosts reach this one; "" means a free port of 127.0.0.1
	Advertise string   // …where that is another address
	TLS       *tls.Config
	Insecure  bool            // may listen off loopback without TLS
	Network   cluster.Network // instead of TCP and TLS, for tests

	Instance instance.Options // Handlers, Webhooks, Storage, Timers, AwakeMax: the rest is filled in
	Client   client.Options   // for the host's own reads and commits; without Endpoints it asks the nodes that it hears of

	LeaseTTL time.Duration // it keeps what it owns for so long though nobody hears from it; 0 means 5 s
	Zone     string        // where it stands, for people
	Weight   int           // its share, beside that of the others; 0 means 100
	Logger   hclog.Logger  // nil means silent
}

const (
	listenDefault = "127.0.0.1:0"
	leaseDefault  = 5 * time.Second
	weightDefault = 100
)

func (o Options) withDefaults() (Options, error) {
	if o.Listen == "" {
		o.Listen = listenDefault
	}
	if o.LeaseTTL == 0 {
		o.LeaseTTL = leaseDefault
	}
	if o.Weight == 0 {
		o.Weight = weightDefault
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if err := agent.ValidID("name", o.Name); err != nil {
		return o, err
	}
	switch {
	case len(o.Join) == 0:
		return o, errors.New("a host needs the peer address of a node to join")
	case o.LeaseTTL < agent.NodeLeaseTTLMin || o.LeaseTTL > agent.NodeLeaseTTLMax:
		return o, fmt.Errorf("a lease of %v: it must be from %v to %v", o.LeaseTTL, agent.NodeLeaseTTLMin, agent.NodeLeaseTTLMax)
	case o.Weight < 0 || o.Weight > agent.HostWeightMax:
		return o, fmt.Errorf("weight %d: it must be from 1 to %d", o.Weight, agent.HostWeightMax)
	case o.Network == nil && o.TLS == nil && !o.Insecure && !loopback(o.Listen):
		return o, fmt.Errorf("a host that listens on %s, off loopback, needs TLS", o.Listen)
	}
	if o.Network == nil {
		o.Network = cluster.TCP{Config: o.TLS}
	}
	return o, nil
}

// loopback tells whether an address is reached on this machine only.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
