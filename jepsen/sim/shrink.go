package sim

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// shrinkMax bounds the runs that Shrink makes.
const shrinkMax = 40

// Shrink looks for a smaller run that fails in one of the same checks: fewer workloads,
// less time, fewer faults, fewer processes. It returns the smallest that it found, which
// may be the given one. tell receives a line for each smaller run.
func (p Program) Shrink(ctx context.Context, failed Document, tell func(string)) (Document, error) {
	return shrink(ctx, func(ctx context.Context, o Order) (Document, error) { return p.Run(ctx, o, nil) }, failed, tell)
}

func shrink(ctx context.Context, run func(context.Context, Order) (Document, error), failed Document, tell func(string)) (Document, error) {
	s := &shrinking{run: run, best: failed, names: failed.Failed(), tell: tell}
	for _, step := range []func(context.Context) error{s.workloads, s.time, s.faults, s.processes, s.time} {
		if err := step(ctx); err != nil {
			return s.best, err
		}
	}
	return s.best, nil
}

// shrinking is the search for a smaller run.
type shrinking struct {
	run   func(context.Context, Order) (Document, error)
	best  Document
	names []string // the checks that failed
	made  int
	tell  func(string)
}

// try makes a run, and takes it as the best if it fails like the first one.
func (s *shrinking) try(ctx context.Context, order Order) (took bool, err error) {
	if s.made++; s.made > shrinkMax {
		return false, nil
	}
	d, err := s.run(ctx, order)
	if err != nil {
		return false, err
	}
	for _, name := range d.Failed() {
		if slices.Contains(s.names, name) {
			s.best = d
			s.tell(fmt.Sprintf("smaller: %d faults, %v: %s", len(d.Steps), order.Time, order.Command()))
			return true, nil
		}
	}
	return false, nil
}

// workloads leaves out those that are not needed.
func (s *shrinking) workloads(ctx context.Context) error {
	for _, name := range s.best.Order.Workloads {
		if len(s.best.Order.Workloads) == 1 {
			return nil
		}
		order := s.best.Order
		order.Workloads = slices.DeleteFunc(slices.Clone(order.Workloads), func(other string) bool { return other == name })
		if _, err := s.try(ctx, order); err != nil {
			return err
		}
	}
	return nil
}

// time halves the time as long as the run still fails.
func (s *shrinking) time(ctx context.Context) error {
	for s.best.Order.Time > 4*time.Second {
		order := s.best.Order
		order.Time = (order.Time / 2).Round(time.Second)
		if took, err := s.try(ctx, order); err != nil || !took {
			return err
		}
	}
	return nil
}

// faults leaves out groups of faults, and then smaller groups (Zeller's ddmin).
func (s *shrinking) faults(ctx context.Context) error {
	for size := (len(s.best.Steps) + 1) / 2; size > 0 && s.made < shrinkMax; size /= 2 {
		for from := 0; from < len(s.best.Steps); {
			order := s.best.Order
			order.Skip = slices.Clone(order.Skip)
			for _, step := range s.best.Steps[from:min(from+size, len(s.best.Steps))] {
				order.Skip = append(order.Skip, step.N)
			}
			took, err := s.try(ctx, order)
			if err != nil {
				return err
			}
			if !took {
				from += size
			}
		}
	}
	return nil
}

// processes halves the number of processes.
func (s *shrinking) processes(ctx context.Context) error {
	for s.best.Order.Processes == 0 || s.best.Order.Processes > 1 {
		order := s.best.Order
		if order.Processes == 0 {
			order.Processes = processesDefault
		}
		order.Processes /= 2
		if took, err := s.try(ctx, order); err != nil || !took {
			return err
		}
	}
	return nil
}
