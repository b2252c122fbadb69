package testbed

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"dormouse/internal/failpoint"
	"dormouse/internal/modpath"
	"dormouse/jepsen/testbed/clock"
)

// seededBug is the environment variable that names a seeded bug. Only a build with the
// tag seeded has seeded bugs.
const seededBug = "DORMOUSE_SEEDED_BUG"

// build returns the path of the daemon: the given one, or one built from this module.
func (b *Bed) build(ctx context.Context) (string, error) {
	if b.options.Binary != "" {
		path, err := filepath.Abs(b.options.Binary)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return "", fmt.Errorf("testbed: no dormoused to run: %w", err)
		}
		if b.options.Failpoints {
			b.grant(CanFailpoint, hasTag(path, failpoint.Tag), "no process ends at a named point")
		}
		return path, nil
	}
	b.can[CanFailpoint] = b.options.Failpoints
	out := filepath.Join(b.options.Bin, "dormoused")
	tags := []string{"grpcnotrace"} // as releases have it
	if b.options.Env[seededBug] != "" {
		tags = append(tags, "seeded")
	}
	if b.options.Failpoints {
		tags = append(tags, failpoint.Tag)
	}
	b.options.Logf("building dormoused")
	root, err := ModuleRoot(ctx)
	if err != nil {
		return "", err
	}
	if b.can[CanClock] {
		_, err = clock.Build(ctx, root, out, tags...)
	} else {
		_, err = goCommand(ctx, root, "build", "-o", out, "-tags", strings.Join(tags, ","), "./cmd/node")
	}
	if err != nil {
		return "", fmt.Errorf("testbed: build dormoused: %w", err)
	}
	return out, nil
}

// ModuleRoot returns the directory of this module.
func ModuleRoot(ctx context.Context) (string, error) {
	root, err := goCommand(ctx, "", "list", "-m", "-f", "{{.Dir}}", modpath.Path)
	if err != nil {
		return "", fmt.Errorf("testbed: cannot find the source of this module; run within its checkout, or give a binary: %w", err)
	}
	return root, nil
}

// hasTag returns why a program was not built with a tag, or nil.
func hasTag(path, tag string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" && slices.Contains(strings.Split(s.Value, ","), tag) {
			return nil
		}
	}
	return fmt.Errorf("%s was built without the tag %s", path, tag)
}

func goCommand(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
