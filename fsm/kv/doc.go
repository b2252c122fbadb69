// Package kv holds the rows of the state machine: their keys, the overlay that collects the changes
// of one log entry before they go to the engine, and the caches of apply and of reads.
package kv
