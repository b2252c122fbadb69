// Package seeded proves that the harness finds bugs: it seeds one after the other
// and expects each to be found, by a named workload and nemesis, within a
// minute. A build without a bug must pass the same.
//
// The bugs themselves are in package internal/seededbug, and stand in the product
// at the places that they break. To see one caught:
//
//	go test -tags seeded -v -run TestBugs/no-dedupe ./jepsen/seeded
//
// and to run with one by hand:
//
//	go build -tags seeded -o bin/dormoused.seeded ./cmd/node
//	bin/dormjepsen run --binary bin/dormoused.seeded --bug no-dedupe --workload append --nemesis kill
package seeded
