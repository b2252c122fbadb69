package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"

	"dormouse/agent"
)

// Options are what a client may be told; the zero value of each is its default.
type Options struct {
	Endpoints    []string          // gRPC addresses of nodes, host:port; empty means EnvEndpoints, or else 127.0.0.1:7601. Others are learned from them
	Fixed        bool              // learn no other addresses than Endpoints
	PreferLeader bool              // go to the leader rather than through another node; saves a hop
	ClusterID    string            // of the cluster to talk to; "" means EnvClusterID where Endpoints is empty, or else that of the first node that answers. Nodes of other clusters are refused
	Scope        string            // of commits and reads that name none; "" means agent.DefaultScope
	ClientID     string            // in request ids; must never be used by two clients, nor again after a restart; "" means random
	Timeout      time.Duration     // of calls whose context has no deadline, retries included; 0 means 10 s
	Attempt      time.Duration     // of one attempt before another node is tried; 0 means 3 s
	InFlightMax  int               // commits in flight, and reads likewise; 0 means agent.RequestWindowMax, which is the most
	TLS          *tls.Config       // nil means plain text, or what EnvCA, EnvCert and EnvKey say where Endpoints is empty too
	DialOptions  []grpc.DialOption // added to ours, for a dialer; empty means none
	Logger       *slog.Logger      // nil means silent
}

const (
	endpointDefault = "127.0.0.1:7601"
	endpointsMax    = 64 // kept, learned ones included
)

func (o Options) filled() (Options, error) {
	o, err := o.fromEnvironment()
	if err != nil {
		return o, err
	}
	if len(o.Endpoints) == 0 {
		o.Endpoints = []string{endpointDefault}
	}
	if len(o.Endpoints) > endpointsMax {
		return o, fmt.Errorf("%d endpoints, at most %d", len(o.Endpoints), endpointsMax)
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
	if o.InFlightMax == 0 {
		o.InFlightMax = agent.RequestWindowMax
	}
	if o.Timeout < 0 || o.Attempt < 0 || o.InFlightMax < 0 || o.InFlightMax > agent.RequestWindowMax {
		return o, errors.New("a timeout is negative, or InFlightMax is not within 0 and agent.RequestWindowMax")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}
