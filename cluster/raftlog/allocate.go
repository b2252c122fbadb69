//go:build !linux

package raftlog

import "os"

// allocate gives an empty file blocks for so many bytes.
func allocate(file *os.File, bytes int64) error { return writeZeros(file, bytes) }
