// Package raftrpc carries Raft's calls between nodes: it is a raft.Transport.
//
// A call and its reply are each a frame (frames.go). The entries of an
// AppendEntries call are written from the memory in which Raft holds them, and
// read into a few buffers that they share. The memory of a frame grows with what
// has come, not with what its sender announces, and each part has a limit.
//
// Nodes of builds before frames encode calls with msgpack, as
// raft.NetworkTransport does (msgpack.go). The Layer says for each connection
// which of the two both sides know.
package raftrpc
