package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc/credentials"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/transport"
	"dormouse/config"
	"dormouse/internal/version"
	"dormouse/server/grpc"
	"dormouse/server/redis"
	"dormouse/server/rest"
	"dormouse/store"
	"dormouse/tenant"
)

// servingEvery is the interval at which gRPC's health status follows readiness.
const servingEvery = 250 * time.Millisecond

// openServers creates the servers and opens their listeners; nothing is served yet.
func (n *Node) openServers() error {
	if n.o.Headless {
		return nil
	}
	c, bytes := n.o.Config, inFlight(n.o.Config)
	service, operator, instances, auth, auditor := guarded(n)
	over := rest.Options{
		Node: c.Node.ID, ClusterID: n.clusterID, Version: version.String(), Applied: n.machine.Applied, Ready: n.Ready, Metrics: n.metrics.handler(n.o.Alone),
		Hosts:   append([]string{hostOf(c.HTTP.Addr), hostOf(c.HTTP.Advertise)}, c.HTTP.Hosts...),
		Origins: c.HTTP.Origins, Compress: c.HTTP.Compress,
		Logger: n.logger.Named("http"), Observe: n.metrics.observeHTTP, Instances: instances, Bytes: bytes, Auth: auth, Audit: auditor, OpenMetrics: c.Private(), Tracer: tracerOf(n.tracing),
		StateSum: stateSum(n), Settings: settings(n), AuditLog: recentAudit(n), Log: n.log.Bytes, SlowCalls: n.slow.last, Profile: profile,
		History: n.metrics.history.Snapshot, Console: console(n), Peers: pagePeers(n),
	}
	handler, err := rest.New(service, operator, over)
	if err != nil {
		return fault("open the HTTP server", err, codeFailed)
	}
	n.http = rest.Server(handler)
	if n.httpListener, n.http.TLSConfig, err = n.listen("HTTP", c.HTTP.Listen(), false); err != nil {
		return err
	}
	if t := n.http.TLSConfig; t != nil {
		t.NextProtos = []string{"h2", "http/1.1"}
	}
	var t *tls.Config
	if n.grpcListener, t, err = n.listen("gRPC", c.GRPC, true); err != nil {
		return err
	}
	options := grpc.Options{Logger: n.logger.Named("grpc"), ClusterID: n.clusterID, Bytes: bytes, Instances: instances, Auth: auth, Audit: auditor, Status: n.operator.Status, Owner: n.instanceHost.router.Elsewhere}
	if t != nil {
		options.Credentials = credentials.NewTLS(t)
	}
	n.grpc = grpc.New(service, operator, options)
	if c.Redis.Addr == "" {
		return nil
	}
	return openRedis(n, service, redis.Options{
		Scope: c.Redis.Scope, Auth: auth, Audit: auditor, Bytes: bytes, Logger: n.logger.Named("redis"), Version: version.String(), Node: c.Node.ID,
	})
}

// openRedis creates the server that speaks the protocol of Redis and opens its listener.
func openRedis(n *Node, service agent.Service, o redis.Options) error {
	var err error
	if n.redis, err = redis.New(service, o); err != nil {
		return fault("open the Redis server", err, codeConfig)
	}
	n.redisListener, _, err = n.listen("Redis", n.o.Config.RedisListen(), false)
	return err
}

// guarded returns what the servers serve, within the rates of the scopes. Commits are validated and
// limited before they are recorded, so that an invalid one, or one over a rate, has no line. The guards
// are around that, and inside of what records the calls that they refuse. auth and auditor are nil if
// the node has none.
func guarded(n *Node) (service agent.Submitter, operator layout.Operator, instances agent.Instances, auth *access.Authenticator, auditor access.Auditor) {
	service, operator = n.service, n.operator
	if n.audit != nil {
		auditor = n.audit.recorder
		service, operator = n.audit.recorder.Service(service), n.audit.recorder.Operator(operator)
	}
	service, instances = tenant.NewService(service, n.limiter, store.SizeOf), tenant.NewInstances(&measuredInstances{n.Instances(), n.metrics.history, tracerOf(n.tracing), n.slow}, n.limiter)
	if !n.o.authenticating() {
		return service, operator, instances, nil, auditor
	}
	service, operator, instances = access.NewGuard(service, n.tokens), access.NewOperator(operator, n.tokens), access.NewInstances(instances, n.tokens)
	if n.audit != nil {
		r := n.audit.recorder
		service, operator, instances = r.Denials(service), r.OperatorDenials(operator), r.InstanceDenials(instances)
	}
	return service, operator, instances, n.tokens.Authenticator, auditor
}

// listen opens the listener l. If own is true, the caller must use the returned TLS configuration;
// otherwise the listener itself uses TLS.
func (n *Node) listen(what string, l config.Listen, own bool) (net.Listener, *tls.Config, error) {
	var t *tls.Config
	var err error
	if n.o.Servers == nil || l.TLS() {
		t, err = n.secrets.serverTLS(l)
	}
	if err == nil {
		err = acceptClients(t, n.o.Config)
	}
	if err != nil {
		return nil, nil, fault(what, err, codeConfig)
	}
	network := n.o.Servers
	if network == nil {
		network = transport.TCP{}
	}
	listener, err := network.Listen(l.Addr)
	if err != nil {
		return nil, nil, fault("listen for "+what, err, codeListen)
	}
	listener = n.limitConnections(listener)
	if t != nil && !own {
		listener = tls.NewListener(listener, t)
	}
	return listener, t, nil
}

// serveHTTP serves until the server is shut down.
func serveHTTP(n *Node) error {
	if err := n.http.Serve(n.httpListener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve HTTP: %w", err)
	}
	return nil
}

// tellHealth updates the status of gRPC's health checks from readiness.
func (n *Node) tellHealth(ctx context.Context) error {
	ticker := time.NewTicker(servingEvery)
	defer ticker.Stop()
	serving := false
	for {
		if ready := n.Ready() == nil; ready != serving {
			serving = ready
			n.grpc.SetServing(ready)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}
