// Package disk gives a host a disk that fails on request, and damages the files of a
// data directory.
//
// A Faulty disk is a FUSE file system over a directory. Its calls can be made to fail,
// to take long or to hang. A Powered disk is ext4 on a sparse loop image whose power
// can be cut: writes that were not synced are lost. A Disk can be both, one above the
// other.
//
// Everything is below the directory that a disk is opened with. Mounts and loop
// devices disappear when the disk is closed, and when the process that opened it dies
// for any reason.
//
// The process that opened a faulty disk serves it. That process may read and write
// files on it, except while the disk hangs. It must not map files of the disk into
// memory, start a program from it, or start a program in one of its directories. In
// these cases a thread waits for its own process, and the Go runtime does not know
// that it waits.
package disk
