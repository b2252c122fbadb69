package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// KeptDir is the directory of the kept runs, in a checkout.
const KeptDir = "jepsen/sim/testdata/seeds"

// Kept is a run that failed once. It is repeated with every change, and must be ok. One with a
// seeded bug must fail, and be ok without the bug.
type Kept struct {
	About string `json:"about"` // what it found
	Order Order  `json:"order"`

	// Seeds is how many seeds, from that of the order on, may find the seeded bug; 0 means that one. A change
	// of the product changes the schedule of a seed.
	Seeds int `json:"seeds,omitempty"`
}

// Orders returns the runs to make: for each one the orders of which the first one that finds its bug is
// enough. With a seeded bug the run without the bug follows.
func (k Kept) Orders() [][]Order {
	if k.Order.Bug == "" {
		return [][]Order{{k.Order}}
	}
	var tries []Order
	for i := range max(k.Seeds, 1) {
		order := k.Order
		order.Seed += uint64(i)
		tries = append(tries, order)
	}
	sound := k.Order
	sound.Bug = ""
	return [][]Order{tries, {sound}}
}

// ReadKept reads the kept runs of a directory, in the order of their names.
func ReadKept(dir string) ([]Kept, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s has no kept runs: it must have files *.json", dir)
	}
	var all []Kept
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var k Kept
		if err := json.Unmarshal(raw, &k); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := k.Order.Check(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, k)
	}
	return all, nil
}

// Keep writes a failed run into a directory, and returns the path.
func Keep(dir string, d Document) (string, error) {
	order := d.Order
	order.Trace, order.Log, order.History = "", "", ""
	about := strings.Join(d.Failed(), ", ")
	for _, r := range d.Results {
		for _, f := range r.Findings {
			about = r.Check + ": " + f.Rule + ": " + f.Detail
			break
		}
	}
	raw, err := json.MarshalIndent(Kept{About: about, Order: order}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, fmt.Sprintf("seed-%d.json", order.Seed))
	return path, errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(path, append(raw, '\n'), 0o644))
}
