package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"

	"dormouse/agent"
)

// Dialer connects to an endpoint, host:port, and returns when ctx ends.
type Dialer func(ctx context.Context, addr string) (net.Conn, error)

// Options configure a client; the zero value of each field is its default.
type Options struct {
	Endpoints    []string          // gRPC addresses of nodes, host:port; empty means EnvEndpoints, or else 127.0.0.1:7601. Further addresses are learned from the nodes
	Fixed        bool              // learn no other addresses than Endpoints
	PreferLeader bool              // send calls to the leader instead of another node; saves a hop
	ClusterID    string            // id of the cluster; "" means EnvClusterID if Endpoints is empty, or else the cluster of the first node that answers. Nodes of other clusters are refused
	Scope        string            // of commits and reads without a scope; "" means agent.DefaultScope
	ClientID     string            // request ids have it, or begin with it; must be unique to a client, and to each run of it; "" means random
	Timeout      time.Duration     // of calls whose context has no deadline, including retries; 0 means 10 s
	Attempt      time.Duration     // of one attempt before another node is tried, counted from the last part of a long message that came or went; 0 means 3 s
	Silence      time.Duration     // how long a node may owe an answer before it must answer another call within the same time, or another node is tried; 0 means 500 ms. Use more, such as 2 s, in wide networks
	InFlightMax  int               // limit of commits in flight, and of reads; 0 means agent.RequestWindowMax, the maximum
	TLS          *tls.Config       // nil means plain text, or EnvCA, EnvCert and EnvKey if Endpoints is empty
	Token        string            // the secret of the token that calls carry; "" means EnvToken or the file EnvTokenFile if Endpoints is empty, or else none
	Insecure     bool              // send the token also without TLS to addresses that are not loopback
	Dialer       Dialer            // connects to endpoints; nil means TCP
	DialOptions  []grpc.DialOption // appended to the client's own for gRPC. Without Dialer they keep all calls on gRPC, because they may hold a dialer
	Logger       *slog.Logger      // nil means no logging
}

const (
	endpointDefault = "127.0.0.1:7601"
	endpointsMax    = 64 // including learned ones
)

func (o Options) filled() (Options, error) {
	o, err := o.fromEnvironment()
	if err != nil {
		return o, err
	}
	if len(o.Endpoints) == 0 {
		o.Endpoints = []string{endpointDefault}
	}
	if err := o.checkToken(); err != nil {
		return o, err
	}
	if len(o.Endpoints) > endpointsMax {
		return o, fmt.Errorf("there are %d endpoints: name at most %d", len(o.Endpoints), endpointsMax)
	}
	if err := o.checkEndpoints(); err != nil {
		return o, err
	}
	if o.ClientID == "" {
		o.ClientID = uuid.NewString()
	}
	if err := agent.ValidID("client id", o.ClientID); err != nil {
		return o, err
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Attempt == 0 {
		o.Attempt = 3 * time.Second
	}
	if o.Silence == 0 {
		o.Silence = 500 * time.Millisecond
	}
	if o.InFlightMax == 0 {
		o.InFlightMax = agent.RequestWindowMax
	}
	if o.Timeout < 0 || o.Attempt < 0 || o.Silence < 0 {
		return o, fmt.Errorf("options Timeout %v, Attempt %v, Silence %v: use positive durations, or 0 for the defaults", o.Timeout, o.Attempt, o.Silence)
	}
	if o.InFlightMax < 0 || o.InFlightMax > agent.RequestWindowMax {
		return o, fmt.Errorf("option InFlightMax %d: use 1 to %d, or 0 for the maximum", o.InFlightMax, agent.RequestWindowMax)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// checkEndpoints returns an error if an endpoint is no host:port, such as the URL of the
// HTTP API. A Dialer or dial options may know other addresses.
func (o Options) checkEndpoints() error {
	if o.Dialer != nil || len(o.DialOptions) > 0 {
		return nil
	}
	for _, endpoint := range o.Endpoints {
		if _, _, err := net.SplitHostPort(endpoint); err != nil {
			return fmt.Errorf("invalid endpoint %q: use the gRPC address of a node as host:port, such as %s", endpoint, endpointDefault)
		}
	}
	return nil
}
