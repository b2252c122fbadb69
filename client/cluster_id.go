package client

import (
	"context"
	"fmt"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"dormouse/api/convert"
)

// clusterID is the id of the client's cluster: from its options, or from the first
// node that answers. It may be used concurrently.
type clusterID struct{ id atomic.Pointer[string] }

// get returns the id, or "" while none is known.
func (c *clusterID) get() string {
	if id := c.id.Load(); id != nil {
		return *id
	}
	return ""
}

// check returns an error if header is from a node of another cluster. If the client
// knows no cluster yet, it takes the node's.
func (c *clusterID) check(addr string, header metadata.MD) error {
	values := header.Get(convert.ClusterHeader)
	if len(values) == 0 { // a server that is not part of a node
		return nil
	}
	theirs := values[0]
	if theirs != "" && c.id.CompareAndSwap(nil, &theirs) {
		return nil
	}
	switch mine := c.get(); {
	case mine == theirs:
		return nil
	case theirs == "":
		return fmt.Errorf("the node at %s belongs to no cluster yet, but this client expects cluster %s", addr, mine)
	default:
		return fmt.Errorf("the node at %s belongs to cluster %s, but this client expects cluster %s: check the endpoints; if the cluster was founded again, restart the client", addr, theirs, mine)
	}
}

// with returns ctx with the header that names the client's cluster.
func (c *clusterID) with(ctx context.Context) context.Context {
	if id := c.get(); id != "" {
		return metadata.AppendToOutgoingContext(ctx, convert.ClusterHeader, id)
	}
	return ctx
}

// dialOptions returns options that name the cluster in every call, so that nodes of
// other clusters refuse it.
func (c *clusterID) dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
			return invoke(c.with(ctx), method, request, reply, conn, options...)
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
			return open(c.with(ctx), desc, conn, method, options...)
		}),
	}
}

// ClusterID returns the id of the client's cluster: from its options, or from the
// first node that answered; "" before that. The client refuses answers of nodes of
// other clusters.
func (c *Client) ClusterID() string { return c.pool.cluster.get() }

// foreignNode returns why the last dialled node was refused, or nil.
func (p *pool) foreignNode() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.foreign
}
