// Package apipb is the public gRPC API: the generated code of api.proto, which
// says what each message means.
package apipb
