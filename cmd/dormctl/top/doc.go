// Package top shows the present state of a cluster: once, as a stream of documents, or
// on a terminal, where it is refreshed.
package top
