package node

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	rpc "google.golang.org/grpc"

	"dormouse/internal/leading"
)

// fatalGrace bounds an orderly stop after a fault: a disk that hangs must not keep the process
// running.
const fatalGrace = 3 * time.Second

// Run serves until ctx ends or a part fails, then stops the parts in reverse order of starting and
// closes them.
func (n *Node) Run(ctx context.Context) error {
	parts, failed := errgroup.WithContext(context.WithoutCancel(ctx))
	life, end := context.WithCancel(context.WithoutCancel(ctx)) // a part that fails does not end the others: they stop in order
	defer end()
	n.start(life, parts)
	httpAddr, grpcAddr := n.Addrs()
	n.logger.Info("awake", "http", httpAddr, "grpc", grpcAddr, "redis", n.RedisAddr(), "raft", n.group.Addr())

	var why error
	grace := n.o.Config.Node.StopTimeout
	select {
	case <-ctx.Done():
		n.logger.Info("stopping")
	case <-failed.Done():
	case why = <-n.fatal:
		grace = fatalGrace
	}
	return n.stop(parts, end, grace, why)
}

// stop ends the parts within grace. After a fault, also one while they end, it does not wait for parts
// that do not end.
func (n *Node) stop(parts *errgroup.Group, end context.CancelFunc, grace time.Duration, why error) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	stopped := make(chan error, 1)
	go func() {
		closed := n.close(ctx)
		end()
		stopped <- errors.Join(fault("run", parts.Wait(), codeFailed), fault("stop", closed, codeFailed))
	}()
	if why == nil {
		select {
		case err := <-stopped:
			return errors.Join(pending(n.fatal), err)
		case why = <-n.fatal:
		}
		late, cancel := context.WithTimeout(ctx, fatalGrace)
		defer cancel()
		ctx = late
	}
	select {
	case err := <-stopped:
		return errors.Join(why, err)
	case <-ctx.Done():
		return why
	}
}

// pending returns a fault that has not been reported yet, or nil.
func pending(faults <-chan error) error {
	select {
	case why := <-faults:
		return why
	default:
		return nil
	}
}

// start starts the parts. Each ends when it is closed, or with life.
func (n *Node) start(life context.Context, parts *errgroup.Group) {
	parts.Go(func() error { return n.group.Run(context.WithoutCancel(life)) })
	parts.Go(func() error {
		err := n.peers.Serve(n.group.PeerListener())
		if errors.Is(err, rpc.ErrServerStopped) || errors.Is(err, net.ErrClosed) {
			return nil
		}
		return err
	})
	parts.Go(func() error { return n.router.Follow(life) })
	var keep context.Context
	keep, n.instanceHost.end = context.WithCancel(life)
	parts.Go(func() error { return n.instanceHost.run(keep) })
	var talk context.Context
	talk, n.endGossip = context.WithCancel(life)
	n.gossipEnded = make(chan struct{})
	parts.Go(func() error {
		defer close(n.gossipEnded)
		return n.gossip.Run(talk)
	})
	if n.backups != nil {
		parts.Go(func() error { return n.backups.Run(life) })
	}
	if n.o.Headless {
		return
	}
	if n.o.authenticating() {
		parts.Go(func() error {
			leading.Run(life, n.group, (&rootToken{node: n}).run)
			return nil
		})
	} else {
		warnOpen(n)
	}
	if n.audit != nil {
		n.audit.start(life, parts.Go)
	}
	parts.Go(func() error { return n.grpc.Serve(n.grpcListener) })
	parts.Go(func() error { return serveHTTP(n) })
	if n.redis != nil {
		parts.Go(func() error { return n.redis.Serve(n.redisListener) })
	}
	parts.Go(func() error { return n.tellHealth(life) })
}

// close stops and closes what has been opened, in reverse order. Each step before the group's takes
// at most half of the remaining time, so that the group can hand over leadership.
func (n *Node) close(ctx context.Context) error {
	close(n.stopping) // readiness fails first, so that load balancers use other nodes
	n.quitInstances(ctx)
	errs := []error{inHalf(ctx, n.quitServers)} // open calls finish while the group still serves them
	if n.audit != nil {                         // no call is left that it records
		errs = append(errs, inHalf(ctx, n.audit.close))
	}
	if n.router != nil { // refuses calls that wait for a leader
		n.router.Close()
	}
	if n.gossip != nil { // leaves gossip while the node still answers
		errs = append(errs, inHalf(ctx, n.quitGossip))
	}
	if n.group != nil { // transfers leadership, stops Raft, closes the log
		errs = append(errs, ignoreDeadline(n.group.Shutdown(ctx)))
	}
	if n.pool != nil {
		n.pool.Close()
	}
	if n.peers != nil {
		n.peers.Stop()
		n.peerStore.Close()
	}
	if n.machine != nil { // last: Raft may apply until it has stopped
		errs = append(errs, n.machine.Close())
	}
	closeSpans(n)
	return errors.Join(errs...)
}

// quitServers stops the servers at the same time: they refuse new calls, and open calls may finish
// until ctx ends.
func (n *Node) quitServers(ctx context.Context) error {
	var overHTTP, overGRPC, overRedis error
	var stopping sync.WaitGroup
	if n.http != nil {
		stopping.Go(func() { overHTTP = errors.Join(ignoreDeadline(n.http.Shutdown(ctx)), ignoreDeadline(n.http.Close())) })
	}
	if n.grpc != nil {
		stopping.Go(func() { overGRPC = ignoreDeadline(n.grpc.Shutdown(ctx)) })
	}
	if n.redis != nil {
		stopping.Go(func() { overRedis = ignoreDeadline(n.redis.Shutdown(ctx)) })
	}
	stopping.Wait()
	for _, l := range []net.Listener{n.httpListener, n.grpcListener, n.redisListener} {
		if l != nil {
			_ = l.Close() // its server has, unless it never served
		}
	}
	return errors.Join(overHTTP, overGRPC, overRedis)
}

// inHalf runs a step of the stop with half of the remaining time of ctx.
func inHalf(ctx context.Context, step func(context.Context) error) error {
	ctx, cancel := half(ctx)
	defer cancel()
	return step(ctx)
}

// half returns a context that ends after half of the remaining time of ctx.
func half(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}

// ignoreDeadline ignores that a part was stopped at the deadline: its open calls are refused or
// unknown, as their callers are told.
func ignoreDeadline(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
