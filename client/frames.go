package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	"dormouse/api/convert"
	"dormouse/internal/framed"
	apipb "dormouse/proto/api"
)

// exchange opens the Exchange stream to addr: over frames, or over conn with a node or a proxy that
// does not know them. Over frames, moved returns when the last part of a long message came or went; over gRPC it is nil.
func (p *pool) exchange(ctx context.Context, addr string, conn *grpc.ClientConn) (stream apipb.Store_ExchangeClient, moved func() time.Time, err error) {
	if p.o.Dialer != nil || len(p.o.DialOptions) == 0 { // the options may hold a dialer, which is out of reach
		over, err := p.frames(ctx, addr)
		if err == nil {
			return &grpc.GenericClientStream[apipb.Calls, apipb.Replies]{ClientStream: over}, over.Moved, nil
		}
		if !errors.Is(err, framed.ErrOther) {
			return nil, nil, err
		}
		p.o.Logger.Debug("no frames, gRPC only", "endpoint", addr, "error", err)
	}
	stream, err = apipb.NewStoreClient(conn).Exchange(ctx)
	return stream, nil, err //nolint:wrapcheck // the dial's
}

// frames opens the stream on a connection of its own. It waits for the beginning of an answer for
// half of dialTimeout: a proxy may wait for more.
func (p *pool) frames(ctx context.Context, addr string) (*framed.ClientStream, error) {
	dialling, cancel := context.WithTimeout(ctx, dialTimeout/2)
	defer cancel()
	conn, err := p.connection(dialling, addr)
	if err != nil {
		return nil, err
	}
	sent := metadata.MD{}
	if p.o.Token != "" {
		sent.Set("authorization", "Bearer "+p.o.Token)
	}
	if id := p.cluster.get(); id != "" {
		sent.Set(convert.ClusterHeader, id)
	}
	return framed.Open(ctx, conn, framed.ClientOptions{
		Method: apipb.Store_Exchange_FullMethodName, Metadata: sent, MessageMax: convert.ReplyMessageBytesMax,
		Patience: dialTimeout / 2, KeepaliveEvery: keepaliveEvery, KeepaliveTimeout: keepaliveTimeout,
	}) //nolint:wrapcheck // the dial's
}

// connection dials addr, and makes the handshake of TLS as gRPC does.
func (p *pool) connection(ctx context.Context, addr string) (net.Conn, error) {
	dial := p.o.Dialer
	if dial == nil {
		dial = func(ctx context.Context, addr string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		}
	}
	conn, err := dial(ctx, addr)
	if err != nil || p.o.TLS == nil {
		return conn, err
	}
	secured, _, err := credentials.NewTLS(p.o.TLS).ClientHandshake(ctx, addr, conn)
	if err != nil {
		_ = conn.Close() // it is of no use
		return nil, fmt.Errorf("TLS with %s: %w", addr, err)
	}
	return secured, nil
}
