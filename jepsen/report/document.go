package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// Document is the report of a run in JSON.
type Document struct {
	*Run
	Calls      int        `json:"calls"`
	Counts     []Count    `json:"counts"`
	Recoveries []recovery `json:"recoveries,omitempty"`
	Losses     []Loss     `json:"losses,omitempty"`
}

// recovery is a check.Recovery without the times at which nothing happened.
type recovery struct {
	Step       int    `json:"step"`
	Fault      string `json:"fault"`
	From       int64  `json:"from"` // in nanoseconds, as all times are
	To         *int64 `json:"to,omitempty"`
	AfterFault *int64 `json:"after_fault,omitempty"`
	AfterHeal  *int64 `json:"after_heal,omitempty"`
}

// NewDocument returns the document of a run. It leaves out the pictures of Porcupine,
// which the page contains.
func NewDocument(run *Run) Document {
	lean := *run
	lean.Results = make([]check.Result, len(run.Results))
	for i, r := range run.Results {
		lean.Results[i] = r
		lean.Results[i].Findings = make([]check.Finding, len(r.Findings))
		for j, f := range r.Findings {
			f.Picture = nil
			lean.Results[i].Findings[j] = f
		}
	}
	d := Document{Run: &lean, Calls: len(run.History.Ops), Counts: Counts(run.History), Losses: Losses(run.History)}
	for _, r := range check.Recoveries(run.History) {
		d.Recoveries = append(d.Recoveries, recovery{
			Step: r.Step, Fault: label(r.Window), From: int64(r.From), To: came(int64(r.To)),
			AfterFault: came(int64(r.AfterFault)), AfterHeal: came(int64(r.AfterHeal)),
		})
	}
	return d
}

// ReadDocument reads the document from the directory of a run, where Write wrote it.
func ReadDocument(dir string) (Document, error) {
	var d Document
	raw, err := os.ReadFile(filepath.Join(dir, ResultName))
	if err != nil {
		return d, fmt.Errorf("read the result of a run: %w", err)
	}
	err = json.Unmarshal(raw, &d)
	if err == nil && d.Run == nil {
		err = errors.New("it is empty")
	}
	if err != nil {
		return d, fmt.Errorf("read the result of a run: %s of %s: %w", ResultName, dir, err)
	}
	return d, nil
}

// Installs returns how many snapshots the nodes of the run installed.
func (d Document) Installs() (n int) {
	for _, r := range d.Results {
		n += r.Counts[check.CountInstalls]
	}
	return n
}

// came returns an instant, or nil if the event never happened.
func came(at int64) *int64 {
	if at == int64(history.Never) {
		return nil
	}
	return &at
}

// JSON writes the document of a run, on one line.
func JSON(w io.Writer, run *Run) error {
	if err := json.NewEncoder(w).Encode(NewDocument(run)); err != nil {
		return fmt.Errorf("write the result as JSON: %w", err)
	}
	return nil
}

// Write writes the page and the document of a run into its directory.
func Write(run *Run) error {
	return errors.Join(
		WritePage(filepath.Join(run.Dir, PageName), run),
		create(filepath.Join(run.Dir, ResultName), func(w io.Writer) error { return JSON(w, run) }),
	)
}

// WritePage writes the page of a run to a file.
func WritePage(path string, run *Run) error {
	return create(path, func(w io.Writer) error { return Page(w, run) })
}

func create(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return write(f)
}
