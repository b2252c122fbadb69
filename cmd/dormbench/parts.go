package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/spf13/cobra"

	"dormouse/bench/report"
	"dormouse/internal/cli"
	"dormouse/internal/modpath"
)

// parts are the parts of a node and of the generator that use CPU. A sample belongs to
// the innermost function with a prefix of some part.
var parts = []struct {
	name  string
	funcs []string
}{
	{"collector", []string{"runtime.gcBgMarkWorker", "runtime.gcAssist", "runtime.bgsweep", "runtime.bgscavenge", "runtime.(*sweepLocked)", "runtime.gcStart"}},
	{"memtables", []string{"github.com/cockroachdb/pebble/v2.(*memTable).", "github.com/cockroachdb/pebble/v2.(*Batch).", "github.com/cockroachdb/pebble/v2.(*commitPipeline)."}},
	{"flushes and compactions", []string{"github.com/cockroachdb/pebble/v2.(*DB).flush", "github.com/cockroachdb/pebble/v2.(*DB).compact", "github.com/cockroachdb/pebble/v2.(*DB).runCompaction"}},
	{"rows read", []string{"github.com/cockroachdb/pebble/v2.(*DB).getInternal", "github.com/cockroachdb/pebble/v2.(*Iterator).", "github.com/cockroachdb/pebble/v2.(*Snapshot)."}},
	{"sockets", []string{"internal/poll.(*FD).Read", "internal/poll.(*FD).Write", "internal/poll.(*FD).RawRead", "runtime.netpoll"}},
	{"scheduler", []string{"runtime.mcall", "runtime.schedule", "runtime.findRunnable", "runtime.mstart", "runtime.gopreempt_m", "runtime.ready", "runtime.wakep", "runtime.sysmon"}},
	{"coding", []string{modpath.Path + "/proto", modpath.Path + "/internal/utf8pb", "google.golang.org/protobuf", "github.com/go-json-experiment/json"}},
	{"state machine", []string{modpath.Path + "/fsm.", modpath.Path + "/fsm/", modpath.Path + "/storage."}},
	{"the log", []string{modpath.Path + "/cluster/raftlog.", "github.com/hashicorp/raft-wal"}},
	{"raft", []string{"github.com/hashicorp/raft.", "github.com/hashicorp/go-msgpack", modpath.Path + "/cluster/raftrpc."}},
	{"proposer and router", []string{modpath.Path + "/cluster.", modpath.Path + "/cluster/", modpath.Path + "/router.", modpath.Path + "/store."}},
	{"wire", []string{"google.golang.org/grpc", "golang.org/x/net/http2", modpath.Path + "/server/grpc.", modpath.Path + "/client."}},
}

const partOther = "the rest"

// partOf returns the part that a sample belongs to.
func partOf(s *profile.Sample) string {
	for _, l := range s.Location { // the innermost is first
		for _, line := range l.Line {
			for _, p := range parts {
				if slices.ContainsFunc(p.funcs, func(f string) bool { return strings.HasPrefix(line.Function.Name, f) }) {
					return p.name
				}
			}
		}
	}
	return partOther
}

// spent is the CPU use of a profile: seconds by part, and the length of the profile in
// seconds.
type spent struct {
	Profile string             `json:"profile"`
	Seconds float64            `json:"seconds"`
	Parts   map[string]float64 `json:"parts"`
}

// readSpent reads a CPU profile from a file.
func readSpent(file string) (spent, error) {
	f, err := os.Open(file)
	if err != nil {
		return spent{}, fmt.Errorf("read a profile: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	p, err := profile.Parse(f)
	if err != nil {
		return spent{}, fmt.Errorf("read the profile in %s: %w", file, err)
	}
	value := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == "cpu" && t.Unit == "nanoseconds" })
	if value < 0 || p.DurationNanos <= 0 {
		return spent{}, cli.Usagef("%s is not a CPU profile of Go", file)
	}
	found := spent{
		Profile: strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)),
		Seconds: float64(p.DurationNanos) / 1e9, Parts: map[string]float64{},
	}
	for _, s := range p.Sample {
		found.Parts[partOf(s)] += float64(s.Value[value]) / 1e9
	}
	return found, nil
}

func (a *app) partsCommand() *cobra.Command {
	var rate float64
	cmd := &cobra.Command{
		Use: "parts FILE...", Short: "Show the CPU use in profiles by part of a node",
		Long: `parts reads the profiles that run wrote, and shows the CPU use of each part of
a node: in microseconds per operation if --rate gives the operations per
second, otherwise in milliseconds per second. Profiles do not contain kernel
work outside of system calls, such as interrupts and kernel threads.`,
		Example: "  dormbench parts --rate 15600 profiles/n1.pprof profiles/n2.pprof profiles/n3.pprof load.pprof",
		RunE: func(_ *cobra.Command, files []string) error {
			switch {
			case len(files) == 0:
				return cli.Usagef("parts takes the FILE of one or more profiles: see dormbench parts --help")
			case rate < 0:
				return cli.Usagef("--rate may not be negative")
			}
			var all []spent
			for _, file := range files {
				s, err := readSpent(file)
				if err != nil {
					return err
				}
				all = append(all, s)
			}
			return a.print(all, partsTable(all, rate))
		},
	}
	cmd.Flags().Float64Var(&rate, "rate", 0, "operations per second while the profiles were taken")
	return cmd
}

// partsTable returns a table with a column for each profile and one for their sum, the
// largest part first.
func partsTable(all []spent, rate float64) string {
	unit, each := "ms/s", 1e3
	if rate > 0 {
		unit, each = "µs/op", 1e6/rate
	}
	sum := spent{Profile: "all", Seconds: 1, Parts: map[string]float64{}}
	for _, s := range all {
		for part, seconds := range s.Parts {
			sum.Parts[part] += seconds / s.Seconds
		}
	}
	columns := append(slices.Clone(all), sum)
	g := &report.Grid{Head: []string{unit}}
	for _, c := range columns {
		g.Head = append(g.Head, c.Profile)
	}
	names := []string{partOther}
	for _, p := range parts {
		names = append(names, p.name)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(sum.Parts[b], sum.Parts[a]) })
	row := func(name string, of func(spent) float64) {
		cells := []string{name}
		for _, c := range columns {
			cells = append(cells, fmt.Sprintf("%.1f", of(c)/c.Seconds*each))
		}
		g.Rows = append(g.Rows, cells)
	}
	for _, name := range names {
		row(name, func(s spent) float64 { return s.Parts[name] })
	}
	row("sum", func(s spent) (total float64) {
		for _, seconds := range s.Parts {
			total += seconds
		}
		return total
	})
	return g.Text()
}
