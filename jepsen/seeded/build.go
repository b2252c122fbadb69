package seeded

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"

	"dormouse/internal/modpath"
	"dormouse/internal/seededbug"
)

// build builds dormoused with a build tag, or with none.
func build(ctx context.Context, to, tag string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "grpcnotrace,"+tag, "-o", to, modpath.Path+"/cmd/node")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("seeded: build dormoused; run within its checkout: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// bare checks that a binary contains nothing of any bug, not even its name.
func bare(binary string) error {
	program, err := os.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("seeded: %w", err)
	}
	for _, name := range append(names(), seededbug.Variable) {
		if bytes.Contains(program, []byte(name)) {
			return fmt.Errorf("seeded: %q is in a dormoused without the tag seeded: guard each seeded bug by seededbug.Is alone", name)
		}
	}
	return nil
}

func names() []string {
	var names []string
	for _, b := range seededbug.All() {
		names = append(names, string(b))
	}
	return names
}
