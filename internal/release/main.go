package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"

	"dormouse/internal/sdkgo"
)

// platforms are those of a release: GOOS/GOARCH.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64"

// programs are the programs of a release by file name: the directory of the module, and the package
// in it.
var programs = map[string]struct{ module, pkg string }{
	"dormoused": {".", "./cmd/node"}, "dormctl": {".", "./cmd/dormctl"}, "dormblob": {"cmd/dormblob", "."},
}

var versionForm = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	version := flag.String("version", "", "version of the release, such as v1.2.3")
	out := flag.String("out", "dist", "directory of the archives; it must not exist or be empty")
	on := flag.String("platforms", platforms, "platforms, separated by commas")
	flag.Parse()
	if err := release(ctx, *version, *out, strings.Split(*on, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release builds the archives for all platforms into out.
func release(ctx context.Context, version, out string, platforms []string) error {
	if !versionForm.MatchString(version) {
		return fmt.Errorf("--version is %q: give a version such as v1.2.3", version)
	}
	if found, err := os.ReadDir(out); err == nil && len(found) > 0 {
		return fmt.Errorf("%s holds files: remove them, or choose another directory", out)
	}
	var archives []string
	for i, platform := range platforms {
		fmt.Printf("%d/%d %s\n", i+1, len(platforms), platform)
		archive, err := releaseFor(ctx, version, out, platform)
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		archives = append(archives, archive)
	}
	library, err := sdkgo.WriteProxy(ctx, ".", filepath.Join(out, "goproxy"), version)
	if err != nil {
		return fmt.Errorf("write the Go library: %w", err)
	}
	if err := writeSums(filepath.Join(out, "SHA256SUMS"), append(archives, library...)); err != nil {
		return err
	}
	fmt.Printf("%d archives, goproxy with %s and the adapters for Go, and SHA256SUMS are in %s\n", len(archives), sdkgo.ReleasePath(), out)
	return nil
}

// releaseFor builds the archive for a platform, and returns its path.
func releaseFor(ctx context.Context, version, out, platform string) (string, error) {
	system, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return "", fmt.Errorf("name a platform as linux/amd64")
	}
	name := fmt.Sprintf("dormouse-%s-%s-%s", version, system, arch)
	dir := filepath.Join(out, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the directory of the programs: %w", err)
	}
	for program, from := range programs {
		path, err := filepath.Abs(filepath.Join(dir, program))
		if err != nil {
			return "", err
		}
		if err := build(ctx, from.module, from.pkg, path, version, system, arch); err != nil {
			return "", err
		}
	}
	linked, err := linkedInto(ctx, ".", dir)
	if err != nil {
		return "", err
	}
	if err := writeNotice(ctx, filepath.Join(dir, "NOTICE"), linked); err != nil {
		return "", err
	}
	if err := writeSBOM(filepath.Join(dir, "sbom.cdx.json"), version, linked); err != nil {
		return "", err
	}
	for _, file := range []string{"LICENSE", "README.md"} {
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), text, 0o644)
		}
		if err != nil {
			return "", fmt.Errorf("copy %s: %w", file, err)
		}
	}
	return archive(dir)
}
