package fsm_test

import (
	"pgregory.net/rapid"

	oppb "dormouse/proto/op"
)

func (h hostile) instant() int64 {
	return rapid.SampledFrom([]int64{0, 1, 500_000, 1_000_000, 1_000_000_000_000, -1, 1<<63 - 1, -1 << 63}).Draw(h.T, "instant")
}

// generation draws a generation that entry 1, 2 or 3 may have assigned, or none.
func (h hostile) generation() uint64 {
	return uint64(rapid.IntRange(0, 3).Draw(h.T, "entry"))<<16 + uint64(rapid.IntRange(0, 4).Draw(h.T, "ordinal"))
}

func (h hostile) timerOp() *oppb.Op {
	switch rapid.IntRange(0, 7).Draw(h.T, "timer op") {
	case 0:
		return &oppb.Op{Op: &oppb.Op_DeleteTimer{DeleteTimer: &oppb.DeleteTimer{Manager: h.id(), Key: "a", Id: h.id()}}}
	case 1:
		return &oppb.Op{Op: &oppb.Op_AckTimer{AckTimer: &oppb.AckTimer{
			Manager: "a", Key: h.id(), Id: h.id(), Generation: h.generation(), Instant: h.instant(), Next: h.instant(),
		}}}
	case 2:
		return &oppb.Op{Op: &oppb.Op_FailTimer{FailTimer: &oppb.FailTimer{
			Manager: "a", Key: "a", Id: h.id(), Generation: h.generation(), Instant: h.instant(), NotBefore: h.instant(), Error: h.id(),
		}}}
	case 3, 4:
		return &oppb.Op{Op: &oppb.Op_PatchCron{PatchCron: &oppb.PatchCron{
			Key: h.word("instances/a/a", "instances/a/b", "instances/%/a", "instances//", "a"), IfRevision: h.maybe(), IfIncarnation: h.number(),
			Specs: []byte(h.word(``, `null`, `[]`, `{"j":`, `{"j":null}`, `{"":null,"x":{}}`, `{"j":{"cron_expression":"@daily","message":1}}`,
				`{"\u0000":{"cron_expression":"no cron","message":{"type":"","data":[]},"timezone":7}}`,
				`{"k":{"cron_expression":"* * * * *","message":{"type":"t"},"missed":"often","catch_up":18446744073709551615}}`)),
		}}}
	default:
		return &oppb.Op{Op: &oppb.Op_PutTimer{PutTimer: &oppb.PutTimer{
			Manager: "a", Key: "a", Id: h.id(), Cron: h.word("@daily", "no cron"), TimeZone: h.id(), Missed: h.word("skip"),
			CatchUp: h.number(), Type: h.id(), Data: h.bytes(), At: h.instant(),
		}}}
	}
}
