// Package testbed makes a machine room on one machine: hosts with a real
// dormoused each, a network between them, disks and clocks, all of which can
// be made to fail.
//
// Where the machine allows it, each host is a network namespace behind a
// packet switch of our own, and the clients sit on a host of their own, named
// Clients. Elsewhere the nodes share loopback, and Missing says what cannot be
// done.
//
// A Bed touches only what it made. Namespaces and their links have no names
// and are held by open descriptors, and every node dies with the thread that
// started it, so that nothing of a Bed outlives the harness, however it ends;
// Close takes it down in order.
package testbed
