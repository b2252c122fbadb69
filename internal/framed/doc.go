// Package framed carries one stream of messages in both directions over a connection of its own.
// Clients and nodes use it in place of a gRPC stream for the calls that come often: a message is
// encoded into the buffer that is written, and decoded from the buffer that was read, without the
// frames, the flow control and the buffers of HTTP/2. Everything else stays with gRPC, on the same
// port: the first bytes of a connection tell which of the two it is.
//
// Each direction begins with Preface. Then come frames: one byte for the kind, four for the length
// of the payload (big endian), and the payload.
//
//	head     a client's names the method; both have metadata, as in gRPC
//	message  one message
//	close    the client sends no more messages
//	end      of the server: the status, as in gRPC, and metadata
//	ping     asks for a pong, to find a peer that has vanished
//	pong
//
// ClientStream implements grpc.ClientStream, and ServerStream grpc.ServerStream. Backpressure is
// that of TCP.
package framed
