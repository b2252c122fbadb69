package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"runtime/pprof"
	"syscall"
	"testing"
	"time"
)

// Inside makes the run of an order in this process, which then ends: testing/synctest
// needs a testing.T, and package testing ends the process. It writes the Document to
// stdout, and progress to stderr.
func Inside(order Order, stdout, stderr io.Writer) {
	runtime.MemProfileRate = 0
	os.Args = []string{os.Args[0], "-test.timeout=0"}
	all := []testing.InternalTest{{Name: "Simulation", F: func(t *testing.T) { //nolint:thelper // it is the test
		d := simulate(t, order, stderr)
		if err := json.NewEncoder(stdout).Encode(d); err != nil {
			_, _ = fmt.Fprintln(stderr, err)
			os.Exit(1)
		}
		os.Exit(0) // before package testing writes its own lines
	}}}
	testing.Main(regexp.MatchString, all, nil, nil)
}

// simulate makes the run of an order.
func simulate(t *testing.T, order Order, stderr io.Writer) Document {
	t.Helper()
	o := order.options()
	var told, lines, log bytes.Buffer
	o.Tell = func(line string) { told.WriteString(line + "\n") } // a write to a file would take real time
	if order.Trace != "" {
		o.Lines = &lines
	}
	if order.Log != "" {
		o.Log = &log
	}
	d := Document{Order: order}
	stop, err := profile(order.Profile)
	if err != nil {
		return Document{Order: order, Verdict: "violation", Broken: err.Error()}
	}
	r, err := Run(t, o)
	stop()
	_, _ = stderr.Write(told.Bytes())
	if order.Trace != "" {
		err = errors.Join(err, os.WriteFile(order.Trace, lines.Bytes(), 0o600))
	}
	if order.Log != "" {
		err = errors.Join(err, os.WriteFile(order.Log, log.Bytes(), 0o600))
	}
	d.CPU, d.Memory = used()
	if err != nil {
		d.Broken, d.Verdict = err.Error(), "violation"
	}
	if r == nil {
		return d
	}
	d.Hash, d.Notes, d.Seeded, d.Simulated, d.Took, d.Judging = fmt.Sprintf("%016x", r.Sum), r.Notes, r.Seeded, r.Simulated, r.Took, r.Judging
	d.Steps, d.Counts = r.Steps, r.Counts
	if r.Run != nil {
		d.Verdict, d.Results, d.Calls = r.Run.Verdict, r.Run.Results, r.Run.Judged()
		for i := range d.Results {
			for j := range d.Results[i].Findings {
				d.Results[i].Findings[j].Picture = nil
			}
		}
	}
	if order.History != "" {
		if err := os.WriteFile(order.History, r.File, 0o600); err != nil {
			d.Broken = err.Error()
		}
	}
	return d
}

// profile begins a profile of the CPU into a file, if one is named. stop ends it.
func profile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("profile a simulated run: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close() // a profile that lacks its end says so
	}, nil
}

// used returns the time that this process has used of all processors, and the most memory
// that it had.
func used() (cpu time.Duration, memory int64) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), usage.Maxrss << 10
}
