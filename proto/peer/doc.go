// Package peerpb is what nodes say to each other beside Raft: the generated
// code of peer.proto.
package peerpb
