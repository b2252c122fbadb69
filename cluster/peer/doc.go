// Package peer is what nodes ask of each other beside Raft, over gRPC on
// connections that the group's stream layer has already shaken hands on: the
// cluster's id, the node's name and its incarnation are settled before the
// first byte of it.
//
// Server answers for this node and never forwards. Pool asks others.
package peer
