// Package access decides who may do what.
//
// A Principal has grants, and each call needs verbs: one table says which. Guard, Operator and
// Instances check the calls that reach the store, for HTTP and gRPC alike. An Authenticator finds the
// principal of a bearer token. What no grant allows is denied.
package access
