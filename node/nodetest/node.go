package nodetest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/client"
	"dormouse/cluster/clustertest"
	"dormouse/cluster/gossip/gossiptest"
	"dormouse/cluster/transport"
	"dormouse/config"
	"dormouse/instance"
	"dormouse/node"
)

// Options configure a node of a test; the zero value of each is its default.
type Options struct {
	Loopback bool           // serve HTTP and gRPC on free ports of 127.0.0.1, which other processes can reach too
	Client   client.Options // of the client; Endpoints, Fixed and the dialer are set
	Logger   hclog.Logger   // the node's log; nil means silent
	TLSDir   string         // with Loopback: serve TLS, with files in this directory; "" means no TLS
	Redis    bool           // serve the protocol of Redis too; see RedisAddr
	Auth     bool           // ask for tokens; the client has the root token unless it names another

	Handlers map[string]instance.GoHandler // for managers of kind go

	Configure func(c *config.Config) // changes the configuration before the node is opened; nil changes nothing
}

// Node is a running cluster of one node, and a client of it. Create it with Start or Open. The
// client's methods may be called concurrently; close other clients before the node.
type Node struct {
	*client.Client

	node     *node.Node
	links    *clustertest.Network
	loopback bool // Options.Loopback
	stop     context.CancelFunc
	ended    chan error  // capacity one: what the node's Run returned
	root     chan string // capacity one: the root token; nil without Options.Auth
	token    string      // …once it is known
	tls      *tls.Config // of clients; nil means no TLS
}

// Start starts a node, which is closed when the test ends. It fails the test if the node does not
// start, or returns an error when it is closed.
func Start(tb testing.TB) *Node {
	tb.Helper()
	return StartWith(tb, Options{})
}

// StartWith is Start with options.
func StartWith(tb testing.TB, o Options) *Node {
	tb.Helper()
	n, err := Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := n.Close(); err != nil {
			tb.Error(err)
		}
	})
	return n
}

// Open starts a node outside of a test, as in an example, and returns once it serves. The caller
// must close it.
func Open(o Options) (*Node, error) {
	n := &Node{links: clustertest.NewNetwork(), loopback: o.Loopback, ended: make(chan error, 1)}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if err := n.wake(o); err != nil {
		return nil, fmt.Errorf("start a node for tests: %w", err)
	}
	if err := n.connect(o); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to a node for tests: %w", err), n.sleep())
	}
	return n, nil
}

// Names of the node in its own network. Gossip's must be an IP and a port.
const (
	name       = "n1"
	gossipAddr = "127.0.0.1:7603"
	freePort   = "127.0.0.1:0"
)

// wake starts the node and waits until it serves.
func (n *Node) wake(o Options) error {
	c := config.Default()
	c.Node.ID, c.Node.Dev, c.Node.Ephemeral, c.Cluster.Bootstrap = name, true, true, true
	c.Raft.Addr, c.HTTP.Addr, c.GRPC.Addr, c.Gossip.Addr = name+":raft", name+":http", name+":grpc", gossipAddr
	c.Storage.CacheBytes = 1 << 20
	c.Auth.Mode = config.AuthOff
	if o.Auth {
		c.Auth.Mode, n.root = config.AuthTokens, make(chan string, 1)
	}
	host := n.links.Host(name)
	var servers transport.Network = host
	if o.Loopback {
		c.HTTP.Addr, c.GRPC.Addr, servers = freePort, freePort, nil
	}
	if o.Redis {
		c.Redis.Addr = name + ":redis"
		if o.Loopback {
			c.Redis.Addr = freePort
		}
	}
	if o.TLSDir != "" {
		t, err := serveTLS(&c, o.TLSDir)
		if err != nil {
			return err
		}
		n.tls = t
	}
	c.Raft.Advertise, c.HTTP.Advertise, c.GRPC.Advertise, c.Gossip.Advertise = c.Raft.Addr, c.HTTP.Addr, c.GRPC.Addr, c.Gossip.Addr
	if o.Configure != nil {
		o.Configure(&c)
	}
	talk, err := gossiptest.New().Listen(gossipAddr)
	if err != nil {
		return err
	}
	if n.node, err = node.Open(context.Background(), node.Options{Config: c, Network: host, Servers: servers, Gossip: talk, Handlers: o.Handlers, Logger: o.Logger, RootToken: func(secret string) { n.root <- secret }}); err != nil {
		return err
	}
	var life context.Context
	life, n.stop = context.WithCancel(context.Background())
	go func() { n.ended <- n.node.Run(life) }()
	return n.serving()
}

// startTimeout bounds how long a node may take to serve: far longer than an election of a single
// node on a busy machine.
const startTimeout = 30 * time.Second

// serving waits until the node serves. It stops a node that does not.
func (n *Node) serving() error {
	deadline := time.NewTimer(startTimeout)
	defer deadline.Stop()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for {
		why := n.node.Ready()
		if why == nil && n.root != nil && n.token == "" {
			why = errors.New("there is no root token yet")
		}
		if why == nil {
			return nil
		}
		select {
		case n.token = <-n.root:
		case <-look.C:
		case err := <-n.ended:
			n.stop()
			return errors.Join(errors.New("it stopped at once"), err)
		case <-deadline.C:
			return errors.Join(fmt.Errorf("it does not serve: %w", why), n.sleep())
		}
	}
}

// connect dials the client.
func (n *Node) connect(o Options) error {
	c := o.Client
	c.Endpoints, c.Fixed = []string{n.GRPCAddr()}, true
	if !o.Loopback {
		host := n.links.Host("client")
		c.Dialer = func(ctx context.Context, addr string) (net.Conn, error) { return host.Dial(ctx, addr) }
	}
	if c.Token == "" {
		c.Token = n.token
	}
	c.TLS = n.tls
	c.Insecure = n.tls == nil // all of it is in memory, or on loopback
	var err error
	n.Client, err = client.Dial(c)
	return err
}

// GRPCAddr returns the node's gRPC address; only this process can reach it, unless Options.Loopback
// is set.
func (n *Node) GRPCAddr() string {
	_, addr := n.node.Addrs()
	return addr
}

// RootToken returns the secret of the root token; "" without Options.Auth.
func (n *Node) RootToken() string { return n.token }

// HTTPAddr returns the node's HTTP address; see GRPCAddr.
func (n *Node) HTTPAddr() string {
	addr, _ := n.node.Addrs()
	return addr
}

// RedisAddr returns the address for clients of Redis; "" without Options.Redis. See GRPCAddr.
func (n *Node) RedisAddr() string { return n.node.RedisAddr() }

// DialRedis connects to RedisAddr, with TLS if the node serves it.
func (n *Node) DialRedis(ctx context.Context) (net.Conn, error) {
	if !n.loopback {
		return n.links.Host("client").Dial(ctx, n.RedisAddr())
	}
	if n.tls != nil {
		return (&tls.Dialer{Config: n.tls}).DialContext(ctx, "tcp", n.RedisAddr())
	}
	return new(net.Dialer).DialContext(ctx, "tcp", n.RedisAddr())
}

// Close closes the client and stops the node, whose data is lost. It returns once nothing of either
// is running. Call it once.
func (n *Node) Close() error {
	return errors.Join(n.Client.Close(), n.sleep())
}

// sleep stops the node in order.
func (n *Node) sleep() error {
	n.stop()
	return <-n.ended
}
