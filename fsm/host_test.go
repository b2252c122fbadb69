package fsm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// hosted returns the lease of a host's first process, and hostRow its member row.
func hosted(name string, handlers ...string) layout.NodeLease {
	return layout.NodeLease{Node: name, Incarnation: "data-" + name, Life: "life-1", TTL: leaseTTL, Handlers: handlers}
}

func hostRow(name string) *layout.Member {
	return &layout.Member{ID: name, Incarnation: "data-" + name, RaftAddr: name, Version: "v1", FeatureLevelMax: 2, Zone: "z", Weight: 50, Host: true}
}

func (r clusterOps) host(l layout.NodeLease, row *layout.Member) *agent.Error {
	return r.say(r.machine.EncodeRenewNodeLease(l, row))
}

// member returns the row of that name, or nil.
func (r clusterOps) member(name string) *layout.Member {
	for _, m := range r.machine.Members() {
		if m.ID == name {
			return &m
		}
	}
	return nil
}

func TestAHostIsAMemberForAsLongAsItsLeaseStands(t *testing.T) {
	r := newOwners(t)
	if err := r.host(hosted("h1"), hostRow("h1")); err != nil {
		t.Fatal(err)
	}
	if m := r.member("h1"); m == nil || *m != *hostRow("h1") {
		t.Fatalf("its row is %+v", m)
	}
	owned := r.must(1, layout.PartitionAssign, "h1")
	if err := r.fencedWrite(1, owned.Epoch); err != nil {
		t.Fatal(err)
	}
	moved := hostRow("h1")
	moved.RaftAddr = "elsewhere"
	if err := r.host(hosted("h1"), moved); err != nil {
		t.Fatal(err)
	}
	if m := r.member("h1"); *m != *moved || r.machine.Partition(1) != owned {
		t.Errorf("it moved: %+v, %+v", m, r.machine.Partition(1))
	}

	r.after(leaseTTL)
	r.batch()
	if m := r.member("h1"); m != nil || r.machine.Partition(1).Owner != "" {
		t.Errorf("its lease lapsed: %+v, %+v", m, r.machine.Partition(1))
	}
	r.wantFenced(1, owned.Epoch, "")
	if len(r.machine.Members()) != 3 {
		t.Errorf("the nodes, whose leases lapsed too, are %v", r.machine.Members())
	}

	again := hosted("h1")
	again.Incarnation, again.Life = "data-2", "life-2" // another process
	row := hostRow("h1")
	row.Incarnation = "data-2"
	if err := r.host(again, row); err != nil {
		t.Fatal(err)
	}
	if err := r.say(r.machine.EncodeEndNodeLease("h1", "life-2")); err != nil || r.member("h1") != nil {
		t.Errorf("it ended its lease: %v, %+v", err, r.member("h1"))
	}
	wellOwned(t, r.machine)
}

func TestAHostsNameAndAddressAreItsOwn(t *testing.T) {
	r := newOwners(t)
	if err := r.host(hosted("h1"), hostRow("h1")); err != nil {
		t.Fatal(err)
	}
	at := func(addr string) *layout.Member { m := *hostRow("h2"); m.RaftAddr = addr; return &m }
	other := hosted("h1")
	other.Incarnation = "data-x"
	for name, c := range map[string]struct {
		lease layout.NodeLease
		row   *layout.Member
		want  agent.Code
	}{
		"a node's name":                 {hosted("n1"), hostRow("n1"), agent.CodeAlreadyExists},
		"a host's name":                 {other, hostRow("h1"), agent.CodeAlreadyClaimed},
		"a node's address":              {hosted("h2"), at("n1"), agent.CodeAlreadyExists},
		"a host's address":              {hosted("h2"), at("h1"), agent.CodeAlreadyClaimed},
		"a host's name, as a node":      {hosted("h1"), nil, agent.CodeNotFound},
		"no address":                    {hosted("h2"), at(""), agent.CodeInvalid},
		"a name with a NUL":             {hosted("h\x00"), hostRow("h2"), agent.CodeInvalid},
		"a life that is none":           {layout.NodeLease{Node: "h2", Incarnation: "i", TTL: leaseTTL}, hostRow("h2"), agent.CodeInvalid},
		"a lease that is far too short": {layout.NodeLease{Node: "h2", Incarnation: "i", Life: "l", TTL: time.Millisecond}, hostRow("h2"), agent.CodeInvalid},
	} {
		before := r.machine.Members()
		if err := r.host(c.lease, c.row); err == nil || err.Code != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if !slices.Equal(before, r.machine.Members()) {
			t.Errorf("%s: the members are %+v", name, r.machine.Members())
		}
	}
	if err := r.say(r.machine.EncodePutMember(layout.Member{ID: "h1", Incarnation: "data-node", RaftAddr: "x"})); err == nil || err.Code != agent.CodeAlreadyExists {
		t.Errorf("a node of the host's name: %v", err)
	}
}

func TestARemovedHostStaysOut(t *testing.T) {
	r := newOwners(t)
	if err := r.host(hosted("h1"), hostRow("h1")); err != nil {
		t.Fatal(err)
	}
	owned := r.must(1, layout.PartitionAssign, "h1")
	if err := r.say(r.machine.EncodeRemoveMember("h1", "data-h1")); err != nil {
		t.Fatal(err)
	}
	if err := r.host(hosted("h1"), hostRow("h1")); err == nil || err.Code != agent.CodeDeleted {
		t.Errorf("it renews its lease: %v", err)
	}
	if r.machine.Partition(1).Epoch != owned.Epoch {
		t.Error("it lost what it owned before its lease lapsed")
	}
	r.after(leaseTTL)
	r.wantFenced(1, owned.Epoch, "")
}

func TestOfTwoLeasesOneHasAllHandlersOfTheOther(t *testing.T) {
	r := newOwners(t) // the nodes have none
	for _, step := range []struct {
		host     string
		handlers []string
		want     agent.Code
	}{
		{"h1", []string{"a@1", "b@1"}, ""},
		{"h2", []string{"a@1"}, ""},
		{"h3", []string{"a@1", "b@1", "c@0"}, ""},
		{"h4", []string{"b@1"}, agent.CodeConflict},        // h2 has another
		{"h4", []string{"a@2", "b@1"}, agent.CodeConflict}, // in another version
		{"h4", []string{"b@1", "a@1"}, agent.CodeInvalid},  // not in order
		{"h4", []string{"a@1", "a@1"}, agent.CodeInvalid},
		{"h4", []string{""}, agent.CodeInvalid},
		{"h4", nil, ""},
		{"h1", []string{"z@1"}, ""}, // a renewal: the process's handlers are what they were
	} {
		err := r.host(hosted(step.host, step.handlers...), hostRow(step.host))
		if (err == nil) != (step.want == "") || err != nil && err.Code != step.want {
			t.Errorf("%s with %v: %v, want %q", step.host, step.handlers, err, step.want)
		}
		if err != nil && err.Code == agent.CodeConflict && (err.Holder == "" || !strings.Contains(err.Detail, "a@1")) {
			t.Errorf("it does not say what differs from whom: %+v", err)
		}
		wellOwned(t, r.machine)
	}
	for _, l := range r.machine.NodeLeases() {
		if l.Node == "h1" && !slices.Equal(l.Handlers, []string{"a@1", "b@1"}) {
			t.Errorf("%+v", l)
		}
	}
}

// From that level on, leases with any handlers can exist together; earlier leases stay.
func TestLeasesOfOtherHandlersGoTogetherOnceRemoteTurnsAreSent(t *testing.T) {
	r := newOwners(t)
	r.raise(layout.RemoteTurnsLevel - 1)
	for _, step := range []struct {
		host     string
		handlers []string
		level    uint32
		want     agent.Code
	}{
		{"h1", []string{"a@1"}, 0, ""},
		{"h2", []string{"a@2"}, 0, agent.CodeConflict},
		{"h2", []string{"a@2"}, layout.RemoteTurnsLevel, ""},
		{"h3", []string{"b@1"}, 0, ""},
		{"h4", []string{"b@1", "a@1"}, 0, agent.CodeInvalid}, // not in order
		{"h4", []string{""}, 0, agent.CodeInvalid},
	} {
		if step.level != 0 {
			r.raise(step.level)
		}
		err := r.host(hosted(step.host, step.handlers...), hostRow(step.host))
		if (err == nil) != (step.want == "") || err != nil && err.Code != step.want {
			t.Errorf("%s with %v: %v, want %q", step.host, step.handlers, err, step.want)
		}
		wellOwned(t, r.machine)
	}
	if n := len(r.machine.NodeLeases()); n != 6 { // three nodes', three hosts'
		t.Errorf("%d leases stand", n)
	}
}

func TestHostsKeepToTheirLimits(t *testing.T) {
	r := clusterOps{newSubject(t)}
	for i := range layout.HostsMax {
		if err := r.host(hosted(fmt.Sprint("h", i)), hostRow(fmt.Sprint("h", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.host(hosted("h0"), hostRow("h0")); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	if err := r.host(hosted("one-more"), hostRow("one-more")); err == nil || err.Code != agent.CodeTooLarge {
		t.Errorf("one more: %v", err)
	}
	r.after(leaseTTL)
	for weight, fine := range map[int]bool{layout.HostWeightMax: true, layout.HostWeightMax + 1: false} {
		row := hostRow("heavy")
		row.Weight = weight
		if err := r.host(hosted("heavy"), row); (err == nil) != fine {
			t.Errorf("weight %d: %v", weight, err)
		}
	}
	for count, fine := range map[int]bool{layout.LeaseHandlersMax: true, layout.LeaseHandlersMax + 1: false} {
		var handlers []string
		for i := range count {
			handlers = append(handlers, fmt.Sprintf("handler-%04d@1", i))
		}
		if err := r.host(hosted(fmt.Sprint("able", count), handlers...), hostRow(fmt.Sprint("able", count))); (err == nil) != fine {
			t.Errorf("%d handlers: %v", count, err)
		}
	}
}

// CL-1: for any order of requests of hosts and nodes, a host's row is removed with its lease, nodes
// stay, and one process has all handlers.
func TestHostsKeepToTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := clusterOps{newSubject(t)}
		defer r.close()
		r.join("n1")
		r.raise(rapid.Uint32Range(1, layout.RemoteTurnsLevel).Draw(rt, "level"))
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			name := rapid.SampledFrom([]string{"n1", "h1", "h2", "h3"}).Draw(rt, "name")
			life := fmt.Sprint("life-", rapid.IntRange(1, 2).Draw(rt, "life"))
			lease, row := hosted(name), hostRow(name)
			lease.Life, lease.Incarnation = life, "data-"+name+rapid.SampledFrom([]string{"", "2"}).Draw(rt, "data")
			lease.Handlers = rapid.SampledFrom([][]string{nil, {"a@1"}, {"a@1", "b@1"}, {"a@2"}, {"b@1"}}).Draw(rt, "handlers")
			had := r.member(name)
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0:
				r.after(time.Duration(rapid.IntRange(1, 6000).Draw(rt, "ms")) * time.Millisecond)
				r.batch()
			case 1:
				_ = r.say(r.machine.EncodeEndNodeLease(name, life))
			case 2:
				if name != "n1" {
					_ = r.say(r.machine.EncodeRemoveMember(name, lease.Incarnation))
				}
			case 3:
				_ = r.host(lease, nil)
			default:
				err := r.host(lease, row)
				if err == nil && (name == "n1" || had != nil && had.Incarnation != lease.Incarnation) {
					rt.Fatalf("it took the name of %+v", had)
				}
			}
			wellOwned(rt, r.machine)
			if m := r.member("n1"); m == nil || m.Host {
				rt.Fatalf("the node is %+v", m)
			}
		}
	})
}
