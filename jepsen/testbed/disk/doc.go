// Package disk gives a host a disk that fails on demand, and harms what lies
// on one.
//
// A Faulty disk is a FUSE file system over a directory: its calls can be made
// to fail, to crawl or to hang. A Powered disk is ext4 on a sparse loop image
// whose power can be cut: what was not synced is gone. A Disk can be both, one
// above the other.
//
// Everything is below the directory that a disk is opened with. Mounts and loop
// devices are gone when the disk is closed, and when the process that opened it
// dies, however it dies.
//
// A faulty disk is served by the process that opened it. That process may read
// and write below it as any other, save while it hangs; it must not map files
// there into memory, nor start a program from there or in a directory there: a
// thread that waits for its own process in such a way is one that the Go runtime
// does not know to be waiting.
package disk
