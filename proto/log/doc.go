// Package logpb is the format of the Raft log (log.proto) and of the rows of
// the state (rows.proto), which is replayed and read for years: the generated
// code of the two.
package logpb
