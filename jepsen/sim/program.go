package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"dormouse/internal/modpath"
	"dormouse/jepsen/sim/overlay"
)

// Command is the hidden subcommand of dormjepsen that makes one simulated run.
const Command = "simulated"

// Program is a dormjepsen that makes simulated runs.
type Program struct {
	Path   string
	Seeded bool   // it is built with the overlay
	Why    string // why it is not
}

// redisUnoptimized turns off optimisations for go-redis, which otherwise takes an eighth of the time of a build.
// Few calls of a run go through it.
const redisUnoptimized = "-gcflags=github.com/redis/go-redis/v9/...=-N -l"

// Build builds dormjepsen with the overlay, for seeded runs, from the checkout in the
// working directory. The go command keeps what has not changed. bugs adds the seeded bugs.
// The first build takes minutes, since the overlay changes the whole standard library.
func Build(ctx context.Context, bugs bool) (Program, error) {
	root, version, err := goTree(ctx)
	if err != nil {
		return Program{}, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return Program{}, fmt.Errorf("find a place for the simulator: %w", err)
	}
	here, err := os.Getwd()
	if err != nil {
		return Program{}, err
	}
	sum := sha256.Sum256([]byte(here))
	dir := filepath.Join(cache, "dormouse-sim", version)
	file, err := overlay.Make(filepath.Join(dir, "overlay"), root, version)
	if err != nil {
		return Program{}, err
	}
	tags, name := "simoverlay", "dormjepsen-"+hex.EncodeToString(sum[:4])
	if bugs {
		tags, name = tags+",seeded", name+"-bugs"
	}
	p := Program{Path: filepath.Join(dir, name), Seeded: true}
	// Nodes tell each other their version, and versions of other lengths make another schedule. The program
	// knows neither its commit nor its directory, so that a seed means the same in each checkout.
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-overlay", file, "-tags", tags, redisUnoptimized,
		"-o", p.Path, modpath.Path+"/cmd/dormjepsen")
	// A call of C is a call of the system to the schedule. A compiler that collects less garbage is a seventh faster.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOGC=400")
	if out, err := cmd.CombinedOutput(); err != nil {
		return Program{}, fmt.Errorf("build the simulator; run within its checkout: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return p, nil
}

// goTree returns the root and the version of the Go tree that builds this checkout.
func goTree(ctx context.Context) (root, version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return "", "", fmt.Errorf("find the Go tree: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 {
		return "", "", fmt.Errorf("find the Go tree: go env says %q", out)
	}
	return lines[0], lines[1], nil
}

// Itself returns this program, for runs whose schedule is not seeded. why says why there
// is no other.
func Itself(why error) (Program, error) {
	path, err := os.Executable()
	if err != nil {
		return Program{}, fmt.Errorf("find the path of this executable: %w", err)
	}
	return Program{Path: path, Seeded: Seeded, Why: why.Error()}, nil
}
