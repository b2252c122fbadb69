//go:build chaosclock

package main

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// wallOffset is what the runtime of such a build adds to the wall clock. It only exists in daemons
// built by jepsen/testbed/clock.
//
//go:linkname wallOffset runtime.chaosWallOffset
var wallOffset *int64

// The file that CHAOSCLOCK names holds two words. The harness writes the first, the offset in
// nanoseconds. This process writes its id to the second, which tells the harness that the clock is
// in use.
func init() {
	path := os.Getenv("CHAOSCLOCK")
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		var words []byte
		words, err = syscall.Mmap(int(file.Fd()), 0, 16, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		if err == nil {
			wallOffset = (*int64)(unsafe.Pointer(&words[0]))
			atomic.StoreInt64((*int64)(unsafe.Pointer(&words[8])), int64(os.Getpid()))
			_ = file.Close() // the mapping stays
			return
		}
	}
	fmt.Fprintf(os.Stderr, "dormoused: map the clock that CHAOSCLOCK names: %v\n", err)
	os.Exit(exitConfig)
}
