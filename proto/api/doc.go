// Package apipb is the public gRPC API: the generated code of api.proto, which documents the
// messages.
package apipb
