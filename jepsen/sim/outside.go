package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"dormouse/internal/seededbug"
	"dormouse/jepsen/check"
)

const (
	// realMax bounds the real time of one run: longer than any run takes whose clock
	// goes on.
	realMax = 15 * time.Minute
	// stderrMax is how much of a program's errors a Document has.
	stderrMax = 2 << 10
)

// Run makes a run in a process of its own. progress receives its lines; nil discards
// them. The error is of the machine; a run that stops early is Broken.
func (p Program) Run(ctx context.Context, order Order, progress io.Writer) (Document, error) {
	raw, err := json.Marshal(order)
	if err != nil {
		return Document{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, realMax)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Path, Command, string(raw))
	cmd.Env = append(withoutGo(os.Environ()), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	if order.Bug != "" {
		cmd.Env = append(cmd.Env, seededbug.Variable+"="+order.Bug)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	over, err := runWithin(cmd, order.memoryMax())
	if progress != nil {
		_, _ = progress.Write(errs.Bytes())
	}
	if err != nil {
		if ctx.Err() == context.Canceled {
			return Document{}, ctx.Err()
		}
		said := errs.Bytes()
		if over {
			said = fmt.Appendf(nil, "it used more than %d MiB of memory: make a shorter run, or give more with --memory", order.memoryMax()>>20)
		}
		return Document{Order: order, Verdict: check.Violation, Seeded: p.Seeded, Broken: fmt.Sprintf("%v: %s", err, said[:min(len(said), stderrMax)])}, nil
	}
	var d Document
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		return d, fmt.Errorf("the result of a simulated run: %w", err)
	}
	return d, nil
}

// withoutGo returns an environment without the settings of Go's runtime.
func withoutGo(all []string) []string {
	var left []string
	for _, one := range all {
		switch name, _, _ := strings.Cut(one, "="); name {
		case "GOMAXPROCS", "GOGC", "GODEBUG", "GOMEMLIMIT", seededbug.Variable:
		default:
			left = append(left, one)
		}
	}
	return left
}

// memoryDefault bounds the memory of a run, of which most use less than 1 GiB.
const memoryDefault = 4 << 30

// memoryMax returns the bound of a run's memory in bytes.
func (o Order) memoryMax() int64 {
	if o.Memory == 0 {
		return memoryDefault
	}
	return o.Memory << 20
}

// memoryLookEvery is the real time between two looks at the memory of a run.
const memoryLookEvery = 200 * time.Millisecond

// runWithin runs a command, and kills it once it uses more memory than most. It looks from
// outside: a look from inside would change the schedule. Where there is no /proc, nothing
// bounds the memory.
func runWithin(cmd *exec.Cmd, most int64) (over bool, err error) {
	if err := cmd.Start(); err != nil {
		return false, err
	}
	ended, looked := make(chan struct{}), make(chan bool)
	go func() {
		for {
			select {
			case <-ended:
				looked <- false
				return
			case <-time.After(memoryLookEvery):
			}
			if resident(cmd.Process.Pid) > most {
				_ = cmd.Process.Kill() // fails if it has just ended
				looked <- true
				return
			}
		}
	}()
	err = cmd.Wait()
	close(ended)
	return <-looked, err
}

// resident returns the bytes of memory that a process uses, or 0 if that is not known.
func resident(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
