// Package peerpb has the calls between nodes besides Raft: the generated code of peer.proto.
package peerpb
