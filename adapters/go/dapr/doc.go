// Package dapr is a state store and a lock store of Dapr on Dormouse.
//
// State and Lock are components of github.com/dapr/components-contrib, for a build of
// daprd that registers them. Serve offers State to an unmodified daprd as a pluggable
// component; Dapr 1.14 has no protocol for pluggable lock stores.
//
// A key is a value of one scope, its etag is the value's incarnation and revision, and a
// transaction is one commit. A lock is a claim.
package dapr
