package agenttest

import (
	"time"

	"dormouse/agent"
)

// noun is a kind of object with incarnations: how to write and how to delete it.
type noun struct {
	name   string
	write  func(ifIncarnation uint64) agent.Op
	delete func(ifIncarnation uint64, seal time.Duration) agent.Op
	read   agent.Read
}

var nouns = []noun{
	{
		"thread",
		func(n uint64) agent.Op {
			return &agent.AppendThread{Thread: "x", Entries: []agent.Draft{{}}, IfIncarnation: n}
		},
		func(n uint64, seal time.Duration) agent.Op {
			return &agent.DeleteThread{Thread: "x", IfIncarnation: n, Seal: seal}
		},
		&agent.GetThread{Thread: "x"},
	},
	{
		"checkpoint",
		func(n uint64) agent.Op { return &agent.PutCheckpoint{Key: "x", IfIncarnation: n} },
		func(n uint64, seal time.Duration) agent.Op {
			return &agent.DeleteCheckpoint{Key: "x", IfIncarnation: n, Seal: seal}
		},
		&agent.GetCheckpoint{Key: "x"},
	},
	{
		"value",
		func(n uint64) agent.Op { return &agent.PutValue{Key: "x", IfIncarnation: n} },
		func(n uint64, seal time.Duration) agent.Op {
			return &agent.DeleteValue{Key: "x", IfIncarnation: n, Seal: seal}
		},
		&agent.GetValue{Key: "x"},
	},
}

// incarnationOf applies op and returns the incarnation in its result.
func (k *kit) incarnationOf(op agent.Op) uint64 {
	k.Helper()
	switch r := k.commit(op).Results[0].(type) {
	case *agent.ThreadResult:
		return r.Thread.Incarnation
	case *agent.CheckpointResult:
		return r.Incarnation
	case *agent.ValueResult:
		return r.Incarnation
	default:
		k.Fatalf("%T has no incarnation", r)
		return 0
	}
}

var incarnationClaims = []claim{
	{"incarnations_grow_when_things_are_created_again", func(k *kit) {
		for _, n := range nouns {
			first := k.incarnationOf(n.write(0))
			k.equal(n.name+" written again has incarnation", k.incarnationOf(n.write(0)), first)
			k.commit(n.delete(0, 0))
			if second := k.incarnationOf(n.write(0)); second <= first {
				k.Fatalf("%s: incarnation %d came after %d", n.name, second, first)
			}
		}
	}},

	{"deletes_stick_against_late_writes", func(k *kit) {
		for _, n := range nouns {
			first := k.incarnationOf(n.write(0))
			k.equal(n.name+" that names its incarnation", k.incarnationOf(n.write(first)), first)
			k.commit(n.delete(first, 0))
			k.refuse(agent.CodeDeleted, 0, n.write(first))
			k.lacks(agent.CodeNotFound, n.read)

			second := k.incarnationOf(n.write(0))
			e := k.refuse(agent.CodeDeleted, 0, n.write(first))
			k.equal(n.name+": incarnation told", e.Incarnation, second)
			k.refuse(agent.CodeDeleted, 0, n.delete(first, 0))
			k.commit(n.write(second), n.delete(second, 0))
		}
	}},

	{"late_patches_hibernations_compactions_and_forks_are_refused", func(k *kit) {
		old := k.incarnationOf(&agent.PutCheckpoint{Key: "a"})
		k.commit(&agent.DeleteCheckpoint{Key: "a"})
		k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":1}`)})
		k.refuse(agent.CodeDeleted, 0, &agent.PatchCheckpoint{Key: "a", Patch: agent.JSON(`{"n":2}`), IfIncarnation: old})

		old = k.appendTo("t", messages("m", 0, 2)...).Thread.Incarnation
		k.commit(&agent.DeleteThread{Thread: "t"})
		k.appendTo("t", messages("m", 0, 2)...)
		for _, late := range []agent.Op{
			&agent.HibernateThread{Thread: "t", FromSeq: 2, Rev: 3, Entries: messages("m", 2, 1), IfIncarnation: old},
			&agent.CompactThread{Thread: "t", BeforeSeq: 1, IfIncarnation: old},
			&agent.ForkThread{Thread: "t", NewThread: "u", IfIncarnation: old},
		} {
			k.refuse(agent.CodeDeleted, 0, late)
		}
		k.equal("entries", ids(k.entries("t")), "m0 m1")
		k.lacks(agent.CodeNotFound, &agent.GetThread{Thread: "u"})
	}},

	{"a_seal_refuses_every_write", func(k *kit) {
		for _, n := range nouns {
			k.commit(n.write(0))
			k.commit(n.delete(0, agent.SealMax))
			k.refuse(agent.CodeDeleted, 0, n.write(0))
			k.lacks(agent.CodeNotFound, n.read)
		}
		k.refuse(agent.CodeDeleted, 0, &agent.HibernateThread{Thread: "x", Rev: 1, Entries: messages("m", 0, 1)})
		k.appendTo("t", messages("m", 0, 1)...)
		k.refuse(agent.CodeDeleted, 0, &agent.ForkThread{Thread: "t", NewThread: "x"})
		k.commit(&agent.PutValue{Key: "y"}) // other ids have no tombstone
	}},

	{"a_seal_where_nothing_was_refuses_too", func(k *kit) {
		for _, n := range nouns {
			if r := apply[*agent.DeleteResult](k, n.delete(0, time.Hour)); r.Existed {
				k.Fatalf("%s: it existed", n.name)
			}
			k.refuse(agent.CodeDeleted, 0, n.write(0))
		}
	}},

	{"conditions_of_a_delete_also_hold_for_what_is_missing", func(k *kit) {
		for name, deletes := range map[string]func(incarnation uint64, revision *uint64) agent.Op{
			"value": func(incarnation uint64, revision *uint64) agent.Op {
				return &agent.DeleteValue{Key: "none", IfIncarnation: incarnation, IfRevision: revision}
			},
			"checkpoint": func(incarnation uint64, revision *uint64) agent.Op {
				return &agent.DeleteCheckpoint{Key: "none", IfIncarnation: incarnation, IfRevision: revision}
			},
			"memory": func(incarnation uint64, revision *uint64) agent.Op {
				return &agent.DeleteMemory{Agent: "a", ID: "none", IfIncarnation: incarnation, IfRevision: revision}
			},
		} {
			k.equal(name+": its incarnation", k.refuse(agent.CodeDeleted, 0, deletes(7, nil)).Incarnation, uint64(0))
			k.equal(name+": its revision", k.refuse(agent.CodeRevisionMismatch, 0, deletes(0, ptr(uint64(1)))).Revision, uint64(0))
			k.equal(name, apply[*agent.DeleteResult](k, deletes(0, ptr(uint64(0)))).Existed, false)
		}
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.DeleteValue{Key: "none", IfBytes: ptr([]byte("x"))})
		k.refuse(agent.CodeDeleted, 0, &agent.DeleteThread{Thread: "none", IfIncarnation: 7})
	}},

	{"a_seal_holds_for_a_patch_and_not_for_a_delete", func(k *kit) {
		k.commit(&agent.PutCheckpoint{Key: "a"})
		k.commit(&agent.DeleteCheckpoint{Key: "a", Seal: agent.SealMax})
		k.refuse(agent.CodeDeleted, 0, &agent.PatchCheckpoint{Key: "a", Patch: agent.JSON(`{"x":1}`)})
		k.refuse(agent.CodeDeleted, 0, &agent.PatchCheckpoint{Key: "a", Patch: agent.JSON(`{"x":1}`), Upsert: true})
		k.equal("deleted again", apply[*agent.DeleteResult](k, &agent.DeleteCheckpoint{Key: "a", IfRevision: ptr(uint64(0))}).Existed, false)
	}},
}
