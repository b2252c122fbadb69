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
	err = cmd.Run()
	if progress != nil {
		_, _ = progress.Write(errs.Bytes())
	}
	if err != nil {
		if ctx.Err() == context.Canceled {
			return Document{}, ctx.Err()
		}
		said := errs.Bytes()
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
