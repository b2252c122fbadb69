package testbed

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Sample is the status and the resource use of a node at one moment.
type Sample struct {
	Leader      string // node id, as the node sees it; "" if it knows none
	Term        uint64
	Commit      uint64
	Applied     uint64
	Chain       uint32 // over all batches up to Applied
	Goroutines  int
	Descriptors int
	RSS         int64 // bytes
	Installs    int   // snapshots that its process received from a leader and installed; a new process counts from 0
	Snapshots   int   // snapshots that its process took
	Truncations int   // ends of its log that a leader's entries replaced

	// What its state machine met: commits answered from the dedup table, fences of commits that shared
	// an entry, node leases that expired, and partitions that moved after they were drained.
	Answered, SharedFences, LeasesEnded, Drained int
}

// Sample asks a host's node for its status and metrics, and the system about its
// process.
func (b *Bed) Sample(ctx context.Context, host string) (Sample, error) {
	status, err := b.Status(ctx, host)
	if err != nil {
		return Sample{}, fmt.Errorf("sample: %w", err)
	}
	h := b.Host(host)
	page, err := h.get(ctx, "/metrics")
	if err != nil {
		return Sample{}, fmt.Errorf("sample %s: %w", host, err)
	}
	chain, err := strconv.ParseUint(status.Chain, 16, 32)
	if err != nil {
		return Sample{}, fmt.Errorf("sample %s: its chain: %w", host, err)
	}
	s := Sample{Leader: status.Leader, Term: status.Term, Commit: status.CommitIndex, Applied: status.AppliedIndex, Chain: uint32(chain)}
	metrics := readMetrics(page)
	s.Goroutines = int(metrics["go_goroutines"])
	s.Installs = int(metrics["dormouse_cluster_snapshot_installs_total"])
	s.Snapshots = int(metrics["dormouse_cluster_snapshots_total"])
	s.Truncations = int(metrics["dormouse_cluster_log_truncations_total"])
	s.Answered = int(metrics["dormouse_machine_answered_total"])
	s.SharedFences = int(metrics["dormouse_machine_shared_fences_total"])
	s.LeasesEnded = int(metrics["dormouse_machine_leases_ended_total"])
	s.Drained = int(metrics["dormouse_machine_drained_total"])
	if s.Descriptors, s.RSS, err = usage(h.PID()); err != nil {
		return Sample{}, fmt.Errorf("sample %s: %w", host, err)
	}
	return s, nil
}

// Leads reports whether a host's node leads. It asks no other node.
func Leads(ctx context.Context, h *Host) bool {
	page, err := h.get(ctx, "/metrics")
	return err == nil && readMetrics(page)["dormouse_cluster_leads"] == 1
}

// readMetrics parses the metrics without labels of a page in the Prometheus format.
func readMetrics(page []byte) map[string]float64 {
	metrics := map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(page)); lines.Scan(); {
		name, text, ok := strings.Cut(lines.Text(), " ")
		if value, err := strconv.ParseFloat(text, 64); ok && err == nil {
			metrics[name] = value
		}
	}
	return metrics
}

// usage returns the number of open descriptors and the memory of a process.
func usage(pid int) (descriptors int, rss int64, err error) {
	if pid == 0 {
		return 0, 0, fmt.Errorf("the process does not run")
	}
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	open, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		return 0, 0, err
	}
	text, err := os.ReadFile(filepath.Join(proc, "statm"))
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, 0, fmt.Errorf("%s/statm: %q is not as expected", proc, text)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("%s/statm: %w", proc, err)
	}
	return len(open), pages * int64(os.Getpagesize()), nil
}
