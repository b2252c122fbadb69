// Package grpc serves an agent.Submitter and an agent.Operator over gRPC.
//
// Store.Exchange is the fast path: many commits and reads on one stream. A
// commit costs no goroutine; replies are gathered by the stream's one writer
// into frames; calls in flight are bounded in number and in bytes, and a full
// stream is simply not read until there is room. All other calls are unary or
// plain streams, each a commit or a read of its own.
//
// Every refusal is the *agent.Error that the service gave: the reply's error
// on Exchange, else a status with an apipb.Error as its detail. A commit that
// runs out of time is unknown, a read is unavailable. A panic is an internal
// error of the call that met it. The package validates nothing but the form
// of messages; the service does.
package grpc
