package main

import (
	"errors"
	"time"

	"dormouse/bench/report"
	"dormouse/bench/usage"
)

// meter measures the resource use of a run during the measured window.
type meter struct {
	pids []int

	before, after []usage.Usage // of each node
	self          [2]time.Duration
	err           error
}

// window records the use at either end of the window.
func (m *meter) window(opens bool) {
	var list []usage.Usage
	for _, pid := range m.pids {
		u, err := usage.Tree(pid)
		m.err = errors.Join(m.err, err)
		list = append(list, u)
	}
	self, err := usage.Self()
	m.err = errors.Join(m.err, err)
	if opens {
		m.before, m.self[0] = list, self
	} else {
		m.after, m.self[1] = list, self
	}
}

// fill sets the measured use in the cell, whose Ops must be set.
func (m *meter) fill(c *report.Cell) error {
	if m.err != nil || c.Ops == 0 {
		return m.err
	}
	ops := float64(c.Ops)
	c.Nodes = len(m.pids)
	c.ClientCPU = micros(m.self[1]-m.self[0]) / ops
	for i, after := range m.after {
		used := after.Less(m.before[i])
		c.ServerCPU += micros(used.CPU) / ops
		c.Written += float64(used.Written) / ops / float64(len(m.pids))
		c.Memory = max(c.Memory, used.Memory)
	}
	return nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
