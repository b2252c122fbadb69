package host

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/client"
	"dormouse/cluster/keys"
	"dormouse/cluster/transport"
	"dormouse/instance"
)

// Options configure a host. Name and Join are required; the zero value of each
// other field is its default.
type Options struct {
	Name      string   // unique in the cluster while the host is up
	Join      []string // peer addresses of nodes (their raft.addr); it learns the others
	Listen    string   // address for nodes and other hosts; "" means a free port of 127.0.0.1
	Advertise string   // if their address for Listen differs, as of ":7610", which is all of this machine's
	KeyFile   string   // a copy of a node's host.key
	Key       string   // the text of host.key, if KeyFile is ""
	// TLS replaces the host's own TLS, if the nodes have certificates of files. nil off
	// loopback means a certificate that the host issues itself: the host key proves
	// both sides.
	TLS      *tls.Config
	Insecure bool              // no TLS off loopback
	Network  transport.Network // replaces TCP and TLS, for tests

	Instance instance.Options // Handlers, Webhooks, Storage, AwakeMax; Open sets the other fields
	Client   client.Options   // for the host's own reads and commits; without Endpoints it uses the nodes that it knows. A token needs read, write and run in the scopes of its instances

	WAN      bool          // the cluster has the timing wan, for round trips of up to 300 ms: the host waits longer for answers
	LeaseTTL time.Duration // how long it keeps its partitions without contact; 0 means 1.5 s, or 10 s with WAN
	Zone     string        // shown to operators
	Weight   int           // its share of the partitions relative to other members; 0 means 100
	Logger   hclog.Logger  // nil logs nothing

	key   keys.HostKey
	times times
}

const (
	listenDefault = "127.0.0.1:0"
	weightDefault = 100
)

// times are the times of a host that depend on how far the nodes are.
type times struct {
	lease   time.Duration // the default of LeaseTTL
	connect time.Duration // bounds one attempt to connect, which takes some round trips
	ask     time.Duration // of one request to the leader, which commits it
	slow    time.Duration // how long a node may take to send the table at a requested index before the host uses another node
	deposed time.Duration // how long a node or an owner that was replaced may go on to answer; 0 means the defaults
	silence time.Duration // the default of Client.Silence; 0 means that of the client
}

// timesOf returns the times for a timing of the cluster. Those for wan suit round trips of 300 ms.
func timesOf(wan bool) times {
	if wan {
		return times{lease: 10 * time.Second, connect: 4 * time.Second, ask: 4 * time.Second, slow: 4 * time.Second, deposed: time.Second, silence: 2 * time.Second}
	}
	return times{lease: 1500 * time.Millisecond, connect: time.Second, ask: time.Second, slow: time.Second}
}

func (o Options) withDefaults() (Options, error) {
	if o.Listen == "" {
		o.Listen = listenDefault
	}
	o.times = timesOf(o.WAN)
	if o.LeaseTTL == 0 {
		o.LeaseTTL = o.times.lease
	}
	if o.Client.Silence == 0 {
		o.Client.Silence = o.times.silence
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
	case o.LeaseTTL < layout.NodeLeaseTTLMin || o.LeaseTTL > layout.NodeLeaseTTLMax:
		return o, fmt.Errorf("a lease of %v: it must be from %v to %v", o.LeaseTTL, layout.NodeLeaseTTLMin, layout.NodeLeaseTTLMax)
	case o.Weight < 0 || o.Weight > layout.HostWeightMax:
		return o, fmt.Errorf("weight %d: it must be from 1 to %d", o.Weight, layout.HostWeightMax)
	}
	if err := o.readKey(); err != nil {
		return o, err
	}
	if o.Network == nil {
		if err := o.checkAddress(); err != nil {
			return o, err
		}
		if o.TLS == nil && !o.Insecure && !loopback(o.Listen) {
			var err error
			if o.TLS, err = issuedTLS(o.Name); err != nil {
				return o, err
			}
		}
		o.Network = transport.TCP{Config: o.TLS}
	}
	return o, nil
}

// checkAddress returns an error if the host would join under an address that no other member can dial: it would own
// partitions, and no call would reach their instances.
func (o Options) checkAddress() error {
	addr := cmp.Or(o.Advertise, o.Listen)
	name, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("invalid address %q: write host:port", addr)
	}
	ip, err := netip.ParseAddr(name)
	if name == "" || err == nil && ip.Unmap().IsUnspecified() || o.Advertise != "" && port == "0" {
		return fmt.Errorf("other members cannot dial this host at %q: set Advertise to the host:port at which they reach it", addr)
	}
	return nil
}

// readKey sets the key from KeyFile or Key.
func (o *Options) readKey() error {
	text := o.Key
	if o.KeyFile != "" {
		var err error
		if text, err = keys.ReadFile(o.KeyFile); err != nil {
			return fmt.Errorf("read the host key: %w", err)
		}
	}
	if text == "" {
		return errors.New("a host needs a host key: set KeyFile to a copy of host.key, which each node has in its data directory")
	}
	var err error
	o.key, err = keys.ParseHost(text)
	return err
}

// issuedTLS returns the TLS configuration of a host whose nodes issue their own
// certificates. No authority vouches for either side: the handshake proves the host
// key, bound to the connection.
func issuedTLS(name string) (*tls.Config, error) {
	authority, err := keys.New().Authority()
	if err != nil {
		return nil, err
	}
	issuer := authority.Issuer(name)
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		GetCertificate:     func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return issuer.Certificate() },
		InsecureSkipVerify: true,
	}, nil
}

// loopback reports whether an address is reachable from this machine only.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
