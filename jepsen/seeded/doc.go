// Package seeded proves that the harness finds bugs. It seeds one bug at a time and
// expects a named workload and nemesis to find it within a minute. A build without a
// bug must pass the same.
//
// The bugs are in package internal/seededbug and at the places in the product that
// they break. To see one found:
//
//	go test -tags seeded -v -run TestBugs/no-dedupe ./jepsen/seeded
//
// To run with one by hand:
//
//	go build -tags seeded -o bin/dormoused.seeded ./cmd/node
//	bin/dormjepsen run --binary bin/dormoused.seeded --bug no-dedupe --workload append --nemesis kill
package seeded
