// Package grpc serves an agent.Submitter and an layout.Operator over gRPC.
//
// Store.Exchange is the fast path: many commits and reads on one stream. A commit costs no
// goroutine, and the stream's one writer collects replies into frames. Calls in flight are bounded
// in number and in bytes: the server does not read a full stream until there is room. All other
// calls are unary or plain streams, each with its own commit or read.
//
// Every error is the *agent.Error of the service: as the reply's error on Exchange, else as a
// status with an apipb.Error as its detail. The timeout of a commit has code unknown, that of a
// read unavailable. A panic is an internal error of its call. The package validates only the form
// of messages; the service validates the rest.
package grpc
