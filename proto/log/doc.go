// Package logpb is the format of the Raft log (log.proto) and of the rows of
// the state (rows.proto; session.proto has both of sessions), which is replayed
// and read for years: the generated code of the three.
package logpb
