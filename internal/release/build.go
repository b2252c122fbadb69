package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"dormouse/internal/modpath"
)

// build builds a program of the module in a directory for a platform, linked statically.
func build(ctx context.Context, module, pkg, path, version, system, arch string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "grpcnotrace", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -X "+modpath.Path+"/internal/version.stamped="+version, "-o", path, pkg)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w", pkg, err)
	}
	return nil
}
