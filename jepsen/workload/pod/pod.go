// Package pod drives mutations of pods. It checks that each is applied once and
// completed, and that no node of a pod runs twice.
package pod

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/instance"
)

// podWorkload grows pods: each mutation adds one eager node, whose counter is then
// incremented. Callers of mutations cancel early, and their nodes die: the pod must
// complete these mutations itself. No process gets an existing pod, because that would
// complete running mutations.
type podWorkload struct {
	keys    *workload.Keys
	names   atomic.Int64 // number of nodes and increments so far; numbers them
	pods    workload.Managed
	members workload.Managed
	made    sync.Map // :: key → true, once the pod exists

	mu    sync.Mutex
	added map[string][]string // guarded by mu; key → added nodes
}

const (
	prefix        = "pod"
	width         = 9   // at a time, so that each node has some
	callsMax      = 400 // some 100 of them add a node
	podManager    = "pods"
	memberManager = "members"
	idle          = 300 * time.Millisecond
	countedMax    = 3                // nodes of a pod that are incremented: few, so that each is incremented often
	runnerMax     = 40               // maximum timeout in ms of a caller that cancels early
	endMax        = 45 * time.Second // time for a mutation to end: its pod resumes it 10 s after its caller's last step
)

// New returns workload pod.
func New() workload.Workload {
	return &podWorkload{
		keys: workload.NewSharedKeys(prefix, width, callsMax),
		pods: workload.Managed{Manager: agent.Manager{
			Name: podManager, Handler: agent.Handler{Kind: agent.HandlerGo, Name: "pod"}, IdleTimeout: idle,
		}},
		members: workload.Managed{Manager: agent.Manager{
			Name: memberManager, Handler: agent.Handler{Kind: agent.HandlerDocument}, IdleTimeout: idle,
		}},
		added: map[string][]string{},
	}
}

func (*podWorkload) Name() string { return "pod" }

func (*podWorkload) About() string {
	return "pods that grow by mutations whose callers cancel: each counts once and is completed, and no node of a pod runs twice"
}

// callGrow adds a node, callMake creates the pod. A node is incremented by
// instance.CallIncrement and read by workload.CallRead, under the key {pod}/{node}.
const (
	callGrow = "grow"
	callMake = "make"
)

// podCall is the input of a mutation that adds the node Name, which is unique; or of a
// read.
type podCall struct {
	Name  string `json:"name,omitempty"`
	Final bool   `json:"final,omitempty"` // a read after all faults are healed and mutations had time to end; of several the last
}

// podSeen is the state of a pod that a call left or found.
type podSeen struct {
	Version uint64   `json:"version,omitempty"` // of the topology; 0 if the pod does not exist
	Failed  bool     `json:"failed,omitempty"`  // of a mutation: not all of its nodes started
	Nodes   []string `json:"nodes,omitempty"`   // of a read
	Running bool     `json:"running,omitempty"` // of a read: a mutation is in progress
	Stored  []string `json:"stored,omitempty"`  // of a final read: nodes that have been started
}

func (w *podWorkload) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		switch {
		case !w.pods.Set(ctx, p) || !w.members.Set(ctx, p) || !w.make(ctx, p, key):
		case p.Rand.IntN(4) == 0:
			w.grow(ctx, p, key)
		case p.Rand.IntN(6) == 0:
			_, _ = w.read(ctx, p, key, podCall{})
		default:
			w.count(ctx, p, key)
		}
	}
}

// grow adds a node. Half of the callers cancel early, and half of these do not retry.
func (w *podWorkload) grow(ctx context.Context, p *workload.Process, key string) {
	in, most := podCall{Name: "n" + workload.WriteName(p, w.names.Add(1))}, workload.CallMax
	hasty := p.Rand.IntN(2) == 0
	if hasty {
		most = time.Duration(1+p.Rand.IntN(runnerMax)) * time.Millisecond
	}
	_, err := w.add(ctx, p, most, key, in)
	if hasty && p.Rand.IntN(2) == 0 {
		return
	}
	for try := 0; try < instance.AgainTries && agent.OutcomeOf(err) == agent.Undecided && workload.Pace(ctx, p); try++ {
		_, err = w.add(ctx, p, workload.CallMax, key, in)
	}
	if err == nil {
		w.mu.Lock()
		w.added[key] = append(w.added[key], in.Name)
		w.mu.Unlock()
	}
}

// count increments the counter of an added node.
func (w *podWorkload) count(ctx context.Context, p *workload.Process, key string) {
	nodes := w.counted(key)
	if len(nodes) == 0 {
		return
	}
	node, in := nodes[p.Rand.IntN(len(nodes))], instance.CounterCall{Name: workload.WriteName(p, w.names.Add(1))}
	_, err := w.increment(ctx, p, key, node, in)
	in.Again = true
	for try := 0; try < instance.AgainTries && agent.OutcomeOf(err) == agent.Undecided && workload.Pace(ctx, p); try++ {
		_, err = w.increment(ctx, p, key, node, in)
	}
}

// counted returns the nodes of a pod whose counters are incremented.
func (w *podWorkload) counted(key string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	added := w.added[key]
	return added[:min(len(added), countedMax)]
}

// Final reads every pod once its mutations have ended or endMax has passed, and then
// the counters of its nodes.
func (w *podWorkload) Final(ctx context.Context, p *workload.Process) error {
	until := time.Now().Add(endMax)
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		if err := w.ended(ctx, p, key, until); err != nil {
			return err
		}
		for _, node := range w.counted(key) {
			if _, err := w.counter(ctx, p, key, node); err != nil {
				return err
			}
		}
		return nil
	})
}

// ended reads a pod until no mutation runs, or until the given time, and makes the final
// read. A mutation whose caller gave up may begin between the two; then it waits for that one.
func (w *podWorkload) ended(ctx context.Context, p *workload.Process, key string, until time.Time) error {
	for {
		seen, err := w.read(ctx, p, key, podCall{})
		over := !time.Now().Before(until)
		if err == nil && (!seen.Running || over) {
			seen, err = w.read(ctx, p, key, podCall{Final: true})
		}
		if err != nil || !seen.Running || over {
			return err
		}
		workload.Hang(ctx, workload.FinalRest)
	}
}
