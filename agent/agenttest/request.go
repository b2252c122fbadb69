package agenttest

import (
	"dormouse/agent"
)

// request sends ops under a request id.
func (k *kit) request(r agent.Request, ops ...agent.Op) (agent.Result, error) {
	return k.send(agent.Commit{Request: r, Ops: ops})
}

var requestClaims = []claim{
	{"a_retry_gets_the_first_answer", func(k *kit) {
		request := agent.Request{Client: newName("client"), Seq: 1}
		ops := func() []agent.Op {
			return []agent.Op{
				&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Payload: agent.JSON(`{"n":1}`)}}, Metadata: agent.JSON(`{"m":1}`)},
				&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":1}`), Thread: &agent.Pointer{Thread: "t", Rev: 1}},
				&agent.PutValue{Key: "v", Bytes: []byte("1")},
				&agent.DeleteValue{Key: "v"},
				&agent.PutScope{Policy: agent.Policy{History: 2}},
			}
		}
		first := k.applied(k.request(request, ops()...))
		k.appendTo("t", messages("m", 0, 1)...)
		for range 2 {
			again := k.applied(k.request(request, ops()...))
			k.equal("answer to the retry", again, first)
		}
		k.equal("rev", k.thread("t").Rev, uint64(2))
		k.equal("revision", find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"}).Revision, uint64(1))
	}},

	{"a_retry_with_another_body_is_a_mismatch", func(k *kit) {
		request := agent.Request{Client: newName("client"), Seq: 1}
		k.applied(k.request(request, &agent.PutValue{Key: "v", Bytes: []byte("1")}))
		_, err := k.request(request, &agent.PutValue{Key: "v", Bytes: []byte("2")})
		k.refused(agent.CodeIdempotencyMismatch, -1, err)
		_, err = k.request(request, &agent.PutValue{Key: "v", Bytes: []byte("1")}, &agent.PutValue{Key: "w"})
		k.refused(agent.CodeIdempotencyMismatch, -1, err)
		k.applied(k.request(request, &agent.PutValue{Key: "v", Bytes: []byte("1")}))
		k.equal("revision", find[*agent.Value](k, &agent.GetValue{Key: "v"}).Revision, uint64(1))
	}},

	{"refusals_are_remembered", func(k *kit) {
		request := agent.Request{Client: newName("client"), Seq: 1}
		send := func() agent.Error {
			_, err := k.request(request, &agent.PutValue{Key: "v"}, &agent.AppendThread{Thread: "t", Entries: messages("x", 0, 1), ExpectedRev: ptr(uint64(2))})
			return k.refused(agent.CodeConflict, 1, err)
		}
		first := send()
		k.appendTo("t", messages("m", 0, 2)...)
		again := send()
		k.equal("refusal of the retry", again, first)
		if !first.Final {
			k.Fatalf("the refusal is not final: %+v", first)
		}
		k.equal("rev", k.thread("t").Rev, uint64(2))
	}},

	{"refusals_at_the_door_are_not_remembered", func(k *kit) {
		request := agent.Request{Client: newName("client"), Seq: 1}
		_, err := k.request(request, &agent.PutValue{})
		k.refused(agent.CodeInvalid, 0, err)
		k.applied(k.request(request, &agent.PutValue{Key: "v"}))
	}},

	{"what_is_below_low_is_refused", func(k *kit) {
		client := newName("client")
		for seq := range uint64(4) {
			k.applied(k.request(agent.Request{Client: client, Seq: seq + 1, Low: 1}, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{}}}))
		}
		k.applied(k.request(agent.Request{Client: client, Seq: 5, Low: 4}, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{}}}))
		for seq := range uint64(3) {
			_, err := k.request(agent.Request{Client: client, Seq: seq + 1, Low: 1}, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{}}})
			k.failure(agent.CodeRequestExpired, err)
		}
		k.applied(k.request(agent.Request{Client: client, Seq: 4, Low: 4}, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{}}}))
		k.equal("rev", k.thread("t").Rev, uint64(5))
	}},

	{"requests_come_in_any_order", func(k *kit) {
		client := newName("client")
		for _, seq := range []uint64{3, 1, 2, 7, 5} {
			k.applied(k.request(agent.Request{Client: client, Seq: seq, Low: 1}, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{}}}))
		}
		k.equal("rev", k.thread("t").Rev, uint64(5))
		for _, seq := range []uint64{1, 2, 3, 5, 7} {
			k.applied(k.request(agent.Request{Client: client, Seq: seq, Low: 1}, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{}}}))
		}
		k.equal("rev", k.thread("t").Rev, uint64(5))
	}},

	{"clients_and_scopes_do_not_share_request_ids", func(k *kit) {
		request := agent.Request{Client: newName("client"), Seq: 1}
		k.applied(k.request(request, &agent.PutValue{Key: "v", Bytes: []byte("1")}))
		k.applied(k.request(agent.Request{Client: newName("client"), Seq: 1}, &agent.PutValue{Key: "v", Bytes: []byte("2")}))
		other := k.in(newName("scope"))
		other.applied(other.request(request, &agent.PutValue{Key: "v", Bytes: []byte("3")}))
		k.equal("revision", find[*agent.Value](k, &agent.GetValue{Key: "v"}).Revision, uint64(2))
	}},

	{"a_request_that_is_wrong_is_refused", func(k *kit) {
		for field, request := range map[string]agent.Request{
			"request.client": {Seq: 1},
			"request.seq":    {Client: "c"},
			"request.low":    {Client: "c", Seq: 1, Low: 2},
			"request.ttl":    {Client: "c", Seq: 1, TTL: agent.RequestTTLMax + 1},
		} {
			_, err := k.request(request, &agent.PutValue{Key: "v"})
			k.equal("field", k.refused(agent.CodeInvalid, -1, err).Field, field)
		}
	}},
}
