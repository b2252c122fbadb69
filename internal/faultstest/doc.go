// Package faultstest holds tests of the daemon as the operating system sees
// it: real processes, real files, ports of loopback, signals, exit codes, and
// disks that are damaged or full. It has no code of its own.
package faultstest
