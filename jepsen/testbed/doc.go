// Package testbed simulates several machines on one: hosts with a real dormoused each,
// a network between them, disks and clocks, all of which can be made to fail.
//
// If the machine allows it, each host is a network namespace behind a packet switch of
// this module. The clients have a host of their own, named Clients. Otherwise the
// nodes share loopback, and Missing lists the faults that are not possible.
//
// A Bed changes only what it created. Namespaces and their links have no names and are
// held by open descriptors, and every node dies with the thread that started it. So
// nothing of a Bed outlives the harness, however it ends. Close removes everything in
// order.
package testbed
