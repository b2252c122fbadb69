// Package peer carries the calls between nodes beside Raft, over gRPC. The handshake
// of cluster/transport comes before gRPC on each connection, so both sides know the
// cluster, the node and its incarnation.
//
// The server answers for this node and never forwards. Pool calls other nodes.
package peer
