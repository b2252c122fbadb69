// Package memory finds how much memory a node may use, and divides it: between the caches, and
// between the storage engine and Go's heap.
package memory
