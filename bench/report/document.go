package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Document is one comparison, as it is kept.
type Document struct {
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended"`
	Machine Machine   `json:"machine"`
	Command []string  `json:"command"` // that made it
	Rounds  int       `json:"rounds"`
	Systems []System  `json:"systems"`
	Cells   []Cell    `json:"cells"`
	Trials  []Trial   `json:"trials"`
}

// Machine is where it ran.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory int64  `json:"memory_bytes"`
	Kernel string `json:"kernel"`
	Disk   string `json:"disk"` // device, file system and mount of the data
	Go     string `json:"go"`
	Flush  string `json:"flush"` // what one flush of 4 KiB takes
}

// System is one that was compared, or why it was not.
type System struct {
	Name     string   `json:"name"`
	Version  string   `json:"version,omitempty"`
	Commands []string `json:"commands,omitempty"` // of its processes
	Absent   string   `json:"absent,omitempty"`
}

// Trial is something measured that is no workload in a closed loop.
type Trial struct {
	Name   string  `json:"name"`
	System string  `json:"system"`
	Round  int     `json:"round"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Note   string  `json:"note,omitempty"`
}

// The files of a comparison.
const (
	DocumentName = "results.json"
	TableName    = "results.md"
)

// Write writes the document, its tables and its plots into a directory.
func Write(d *Document, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the directory for the results: %w", err)
	}
	raw, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the results: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, DocumentName), append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	plots, err := drawAll(d, dir)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, TableName), []byte(Markdown(d, plots)), 0o644); err != nil {
		return fmt.Errorf("write the tables: %w", err)
	}
	return nil
}

// Read reads what Write wrote.
func Read(dir string) (*Document, error) {
	raw, err := os.ReadFile(filepath.Join(dir, DocumentName))
	if err != nil {
		return nil, fmt.Errorf("read the results: %w", err)
	}
	d := new(Document)
	if err := json.Unmarshal(raw, d); err != nil {
		return nil, fmt.Errorf("read the results in %s: %w", dir, err)
	}
	return d, nil
}
