// Package keys has the secret that the nodes of a cluster share, and all that
// follows from it: what a node or a host proves on a connection, join tokens, the
// key of gossip, and the cluster's certificate authority.
//
// One key of 32 bytes is the only secret that an operator keeps. Every other secret
// is derived from it with HKDF-SHA256 (RFC 5869) under a label of its own, so no
// derived secret reveals another one. The package does no I/O but reading and
// writing key files.
package keys
