package jepsen

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"dormouse/client"
	"dormouse/jepsen/check"
	"dormouse/jepsen/command"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// changingStage is a stage whose nodes are replaced during a run. Nothing listens at its
// addresses.
type changingStage struct {
	stage
	now   []node
	err   error // error of dial
	calls map[*client.Client]dialled
}

type dialled struct {
	scope string
	roam  bool
	addrs []string
}

func (s *changingStage) nodes() []node { return s.now }

func (s *changingStage) dial(scope string, roam bool, addrs ...string) (*client.Client, error) {
	if s.err != nil {
		return nil, s.err
	}
	c, err := client.Dial(client.Options{Endpoints: addrs, Fixed: !roam, Scope: scope})
	s.calls[c] = dialled{scope, roam, addrs}
	return c, err
}

// web implements stage: there is no HTTP API.
func (*changingStage) web() http.RoundTripper { return nil }

// command implements stage.
func (*changingStage) command([]string) command.Run { return nil }

func TestFinalReadsGoToTheNodesThatRunNow(t *testing.T) {
	for _, test := range []struct {
		name string
		now  []node
		err  error
		want []node // nodes that the final reads must know
	}{
		{"all were replaced", []node{{grpc: "127.0.0.1:4"}, {grpc: "127.0.0.1:5"}}, nil, []node{{grpc: "127.0.0.1:4"}, {grpc: "127.0.0.1:5"}}},
		{"none is left", nil, nil, first},
		{"they cannot be dialled", []node{{grpc: "127.0.0.1:4"}}, errors.New("no such place"), first},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &changingStage{now: first, calls: map[*client.Client]dialled{}}
			record, err := history.Create(filepath.Join(t.TempDir(), "history"), history.Header{})
			if err != nil {
				t.Fatal(err)
			}
			defer record.Close() //nolint:errcheck // the record is not read
			o := Options{Workloads: []string{"claim", "set"}, Processes: 2, Progress: func(string) {}}
			r := &run{options: o, id: "1", stage: s, record: record}
			c, err := r.callers()
			if err != nil {
				t.Fatal(err)
			}
			defer c.close()
			s.now, s.err = test.now, test.err
			r.finale(t.Context(), c) // there are no keys
			for _, group := range c.groups {
				p := group.last
				last := p.Client.(workload.GoClient).Client
				got := s.calls[last]
				if got.scope != p.Scope || !got.roam || !slices.Equal(got.addrs, addresses(rotated(test.want, p.ID))) {
					t.Errorf("the final reads of %s go by %+v", group.workload.Name(), got)
				}
				if !slices.Contains(c.clients, io.Closer(last)) {
					t.Errorf("no one closes the last client of %s", group.workload.Name())
				}
			}
		})
	}
}

// sample implements stage.
func (s *changingStage) sample(ctx context.Context, _ string) (check.Sample, error) {
	return check.Sample{}, context.Cause(ctx)
}

// rows implements stage.
func (s *changingStage) rows(ctx context.Context, _ string) (*check.Rows, error) {
	return nil, context.Cause(ctx)
}

// An interrupted run gets no answers from the nodes, which says nothing about them.
func TestALookThatIsInterruptedIsNotRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	record, err := history.Create(path, history.Header{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	(&run{stage: &changingStage{now: first}, record: record}).look(ctx)
	if err := record.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := history.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if r := check.Convergence(h); r.Verdict != check.Unknown {
		t.Errorf("convergence is %s: %v", r.Verdict, r.Findings)
	}
}

// first are the nodes at the start of a run.
var first = []node{{name: "h1", grpc: "127.0.0.1:1"}, {name: "h2", grpc: "127.0.0.1:2"}, {name: "h3", grpc: "127.0.0.1:3"}}

// A run of which a workload's final reads failed is not ok, whatever the calls before show.
func TestFailedFinalReadsAreJudged(t *testing.T) {
	put := history.Op{ID: 1, Workload: "register", Call: "put", Key: "v1", In: []byte(`{"content":{"a":1}}`), Out: []byte(`{"incarnation":1,"revision":1}`), Invoke: 1, Return: 2, Outcome: history.OK}
	h := &history.History{Header: history.Header{Workloads: []string{"register"}}, Ops: []history.Op{put}}
	if r := Judge(t.Context(), h).Results[0]; r.Verdict != check.OK {
		t.Fatalf("without: %s (%s)", r.Verdict, r.Why)
	}
	h.Events = append(h.Events, history.Event{Kind: history.EventNote, Name: check.NoteUnread, Detail: "register: final read of v1: unavailable: no leader"})
	if r := Judge(t.Context(), h).Results[0]; r.Verdict != check.Unknown {
		t.Errorf("with: %s (%s)", r.Verdict, r.Why)
	}
}
