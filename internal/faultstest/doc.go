// Package faultstest tests the daemon as a process: real files, loopback ports,
// signals, exit codes, and disks that are damaged or full. It has no code of its own.
package faultstest
