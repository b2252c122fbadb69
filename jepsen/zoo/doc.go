// Package zoo proves that the harness finds bugs: it plants one after the other
// and expects each to be found, by a named workload and nemesis, within a
// minute. A build without a bug must pass the same.
//
// The bugs themselves are in package internal/planted, and stand in the product
// at the places that they break. To see one caught:
//
//	go test -tags zoo -v -run TestBugs/no-dedupe ./jepsen/zoo
//
// and to run with one by hand:
//
//	go build -tags zoo -o bin/dormoused.zoo ./cmd/node
//	bin/dormjepsen run --binary bin/dormoused.zoo --bug no-dedupe --workload append --nemesis kill
package zoo
