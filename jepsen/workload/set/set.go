// Package set drives additions of members to sets. It checks that every read contains
// all acknowledged members, and only members that were added.
package set

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// set adds unique members to many sets and reads the whole sets. It checks the
// simplest promise: acknowledged writes exist.
//
// A set is a prefix of values with a value for each member, or a thread with an entry
// for each member.
type set struct {
	prefixes, threads *workload.Keys
	members           atomic.Int64 // number of additions so far; numbers the members
}

// KeysAtOnce and CallsMax size the rotation of keys.
const (
	KeysAtOnce = 3 // sets of each kind, for a group of processes at the same time
	CallsMax   = 300
)

// New returns workload set.
func New() workload.Workload {
	return &set{prefixes: workload.NewKeys(valuesPrefix, KeysAtOnce, CallsMax), threads: workload.NewKeys(threadPrefix, KeysAtOnce, CallsMax)}
}

const (
	valuesPrefix = "v"
	threadPrefix = "t"
)

func (*set) Name() string { return "set" }

func (*set) About() string {
	return "unique values and entries added to many sets, read whole: acknowledged ⊆ present ⊆ attempted; nothing lost, stale or from nowhere"
}

// CallAdd is the name of the call that adds a member.
const CallAdd = "add"

// In is the input of a CallAdd.
type In struct {
	Member int64 `json:"member"`
}

// Out is the answer of a read.
type Out struct {
	Members []int64  `json:"members"`
	Wrong   []string `json:"wrong,omitempty"` // content that cannot be a member
}

func (w *set) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		keys := w.prefixes
		if p.Rand.IntN(2) == 0 {
			keys = w.threads
		}
		key := keys.Pick(p)
		if p.Rand.IntN(8) == 0 {
			_, _ = w.read(ctx, p, key)
			continue
		}
		in := In{Member: w.members.Add(1)}
		_, _ = workload.Call(ctx, p, CallAdd, key, true, in, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, addMember(ctx, p, key, in.Member)
		})
	}
}

// addMember adds a new member, if possible on the condition that it does not exist.
func addMember(ctx context.Context, p *workload.Process, key string, member int64) error {
	at, name := p.Client.In(p.Scope), strconv.FormatInt(member, 10)
	if strings.HasPrefix(key, threadPrefix) {
		_, err := at.Append(ctx, agent.AppendThread{Thread: key, Entries: []agent.Draft{{ID: name}}})
		return err
	}
	absent := uint64(0)
	_, err := at.PutValue(ctx, agent.PutValue{Key: key + "/" + name, Bytes: []byte(name), IfRevision: &absent})
	return err
}

// Final reads every set.
func (w *set) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, slices.Concat(w.prefixes.All(), w.threads.All()), func(key string) error {
		_, err := w.read(ctx, p, key)
		return err
	})
}

// ReadDisk implements workload.DiskReader.
func (w *set) ReadDisk(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, slices.Concat(w.prefixes.All(), w.threads.All()), func(key string) error {
		_, err := w.readBy(ctx, p, workload.CallDisk, key)
		return err
	})
}

// read lists a set, in several pages if necessary. Members are never removed, so every
// member that existed at the first page is on some page.
func (w *set) read(ctx context.Context, p *workload.Process, key string) (Out, error) {
	return w.readBy(ctx, p, workload.CallRead, key)
}

func (*set) readBy(ctx context.Context, p *workload.Process, call, key string) (Out, error) {
	return workload.Call(ctx, p, call, key, false, struct{}{}, func(ctx context.Context) (Out, error) {
		if strings.HasPrefix(key, threadPrefix) {
			return readEntries(ctx, p, key)
		}
		return readValues(ctx, p, key)
	})
}

func readEntries(ctx context.Context, p *workload.Process, key string) (out Out, err error) {
	for e, err := range p.Client.In(p.Scope).Entries(ctx, agent.LoadEntries{Thread: key}) {
		if agent.CodeOf(err) == agent.CodeNotFound {
			return Out{}, nil
		}
		if err != nil {
			return Out{}, err
		}
		out.Add(e.ID, e.ID)
	}
	return out, nil
}

func readValues(ctx context.Context, p *workload.Process, key string) (out Out, err error) {
	page := agent.Page{Prefix: key + "/", Limit: agent.ListLimitMax}
	for {
		list, err := p.Client.In(p.Scope).ListValues(ctx, page)
		if err != nil {
			return Out{}, err
		}
		for _, row := range list.Items {
			out.Add(strings.TrimPrefix(row.Key, page.Prefix), row.Key)
		}
		if list.Next == "" {
			return out, nil
		}
		page.After = list.Next
	}
}

// Add adds a member that was read.
func (o *Out) Add(name, whole string) {
	member, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		o.Wrong = append(o.Wrong, whole)
		return
	}
	o.Members = append(o.Members, member)
}
