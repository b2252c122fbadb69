// Package deploytest checks that the files of deploy/ configure nodes that found one cluster, with
// TLS and tokens.
package deploytest
