package peer

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/assign"
	peerpb "dormouse/proto/peer"
)

// Table implements peerpb.PeerServer.
func (s server) Table(stream grpc.BidiStreamingServer[peerpb.TableRequest, peerpb.TableUpdate]) error {
	ctx, cancel := context.WithCancelCause(stream.Context())
	asked := make(chan uint64)
	go func() { // ends with the call, whose stream it reads
		for {
			r, err := stream.Recv()
			if err != nil {
				cancel(err)
				return
			}
			select {
			case asked <- r.Index:
			case <-ctx.Done():
				return
			}
		}
	}()
	err := s.node.FollowTable(ctx, asked, func(u assign.TableUpdate) error { return stream.Send(updateToProto(u)) })
	cancel(nil)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return toStatus(err)
}

// TableStream receives the table of partitions from one node. Next and Ask may be
// called concurrently, each by one goroutine.
type TableStream struct {
	stream grpc.BidiStreamingClient[peerpb.TableRequest, peerpb.TableUpdate]
}

// Table opens a stream of the table of partitions from the node at addr. The stream
// ends with ctx.
func (p *Pool) Table(ctx context.Context, addr string) (*TableStream, error) {
	l, err := p.link(addr)
	if err != nil {
		return nil, err
	}
	stream, err := l.peer.Table(ctx)
	if err != nil {
		return nil, fromStatus(err)
	}
	return &TableStream{stream}, nil
}

// Ask makes the node send an update once its table is as of index.
func (s *TableStream) Ask(index uint64) error {
	return s.stream.Send(&peerpb.TableRequest{Index: index})
}

// Next waits for the next update.
func (s *TableStream) Next() (assign.TableUpdate, error) {
	u, err := s.stream.Recv()
	if err != nil {
		return assign.TableUpdate{}, fromStatus(err)
	}
	return updateFromProto(u)
}

func updateToProto(u assign.TableUpdate) *peerpb.TableUpdate {
	out := &peerpb.TableUpdate{Index: u.Index, LeaderAddr: u.LeaderAddr}
	for _, m := range u.Members {
		out.Members = append(out.Members, &peerpb.TableMember{Id: m.ID, Addr: m.RaftAddr, GrpcAddr: m.GRPCAddr, Host: m.Host})
	}
	for _, l := range u.Leases {
		out.Leases = append(out.Leases, &peerpb.TableLease{Node: l.Node, Life: l.Life, Handlers: l.Handlers})
	}
	for _, p := range u.Partitions {
		out.Partitions = append(out.Partitions, &peerpb.TablePartition{
			Id: uint32(p.ID), Owner: p.Owner, Life: p.Incarnation, Epoch: p.Epoch, To: p.To, Draining: p.State == layout.PartitionDraining,
		})
	}
	return out
}

func updateFromProto(u *peerpb.TableUpdate) (assign.TableUpdate, error) {
	out := assign.TableUpdate{Index: u.Index, LeaderAddr: u.LeaderAddr}
	for _, m := range u.Members {
		out.Members = append(out.Members, layout.Member{ID: m.Id, RaftAddr: m.Addr, GRPCAddr: m.GrpcAddr, Host: m.Host})
	}
	for _, l := range u.Leases {
		out.Leases = append(out.Leases, layout.NodeLease{Node: l.Node, Life: l.Life, Handlers: l.Handlers})
	}
	for _, row := range u.Partitions {
		if row.Id >= layout.Partitions {
			return out, agent.Errorf(agent.CodeCorrupt, "the peer sent partition %d, of %d", row.Id, layout.Partitions)
		}
		p := layout.Partition{ID: int(row.Id), Owner: row.Owner, Incarnation: row.Life, Epoch: row.Epoch, To: row.To, State: layout.PartitionOwned}
		switch {
		case row.Owner == "":
			p.State = layout.PartitionFree
		case row.Draining:
			p.State = layout.PartitionDraining
		}
		out.Partitions = append(out.Partitions, p)
	}
	return out, nil
}
