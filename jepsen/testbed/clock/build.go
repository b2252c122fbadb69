package clock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Tag is the build tag of the daemon's part of this.
const Tag = "chaosclock"

// Build builds the daemon of the module in dir into the file out, with a wall
// clock that can be set, and with more tags if need be. It tells how long that
// took: the first time on a machine everything is compiled again, for the Go
// runtime is another one; later the build cache has it.
func Build(ctx context.Context, dir, out string, tags ...string) (took time.Duration, err error) {
	return build(ctx, dir, "./cmd/node", out, tags...)
}

func build(ctx context.Context, dir, program, out string, tags ...string) (took time.Duration, err error) {
	if err := CanBuild(); err != nil {
		return 0, err
	}
	start := time.Now()
	root, err := goroot(ctx, dir)
	if err != nil {
		return 0, err
	}
	work, err := os.MkdirTemp("", "chaosclock")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	list, err := writeOverlay(root, work)
	if err != nil {
		return 0, err
	}
	all := strings.Join(append([]string{Tag}, tags...), ",")
	command := exec.CommandContext(ctx, "go", "build", "-overlay", list, "-tags", all, "-o", out, program)
	command.Dir = dir
	if said, err := command.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build %s with a clock of its own: %w\n%s", program, err, bytes.TrimSpace(said))
	}
	return time.Since(start), nil
}
