package grpc

import (
	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
)

// Reads that come in one frame, and are as quick as looking up a row, are
// answered together: one goroutine, one barrier, one view. Each on its own
// would cost three times as much as the look itself.

// partyMax bounds how many are answered one after another: so that a frame's
// reads keep several cores busy.
const partyMax = 32

// party is reads that are answered at one index.
type party struct {
	agent.Reads
	window *window
	guests []guest
}

// guest is one call in a party.
type guest struct {
	*flight
	reads int // how many of the party's are its own
}

func weigh(r *apipb.ReadRequest) int64 {
	var weight int64
	for _, read := range r.Reads {
		switch read.GetRead().(type) {
		case *apipb.Read_GetValue, *apipb.Read_GetCheckpoint, *apipb.Read_GetThread, *apipb.Read_GetEntry, *apipb.Read_GetScope,
			*apipb.Read_GetClaim, *apipb.Read_GetMemory, *apipb.Read_GetSession, *apipb.Read_GetReview, *apipb.Read_GetTimer:
			weight++
		default:
			weight += pageReadWeight
		}
	}
	return max(1, min(weight, readWeightMax))
}

// read has one call answered, with others where it is quick. take has counted
// it among the readers.
func (x *exchange) read(f *flight, req *apipb.ReadRequest) {
	r, err := convert.ReadsFromProto(req)
	if err == nil {
		err = r.Validate() // here, so that it is refused alone
	}
	if err != nil {
		x.refuse(f, errorOf(err, false))
		x.readers.Done()
		return
	}
	if x.party != nil && !x.party.fits(f, &r) {
		x.depart()
	}
	if x.party == nil {
		x.party = &party{Reads: agent.Reads{Scope: r.Scope, Stale: r.Stale, MinIndex: r.MinIndex}, window: f.window}
	}
	x.party.Reads.Reads = append(x.party.Reads.Reads, r.Reads...)
	x.party.guests = append(x.party.guests, guest{f, len(r.Reads)})
	if f.weight >= pageReadWeight || len(x.party.Reads.Reads) >= partyMax {
		x.depart()
	}
}

// fits reports whether f's reads may be answered at the party's index.
func (p *party) fits(f *flight, r *agent.Reads) bool {
	return f.weight < pageReadWeight && f.window == p.window &&
		r.Scope == p.Scope && r.Stale == p.Stale && r.MinIndex == p.MinIndex &&
		len(p.Reads.Reads)+len(r.Reads) <= agent.ReadsMax
}

// depart has the party answered.
func (x *exchange) depart() {
	if p := x.party; p != nil {
		x.party = nil
		go x.entertain(p)
	}
}

// entertain answers a party.
func (x *exchange) entertain(p *party) {
	defer x.readers.Add(-len(p.guests))
	defer func() {
		if v := recover(); v != nil {
			e := x.panicked("Exchange read", v)
			for _, g := range p.guests {
				x.refuse(g.flight, e) // those that have their reply keep it
			}
		}
	}()
	answers, err := x.service.Read(p.window.ctx, p.Reads)
	if err == nil && len(answers.Answers) != len(p.Reads.Reads) {
		err = agent.Errorf(agent.CodeInternal, "%d reads have %d answers", len(p.Reads.Reads), len(answers.Answers))
	}
	first := 0
	for _, g := range p.guests {
		if err != nil {
			x.refuse(g.flight, errorOf(err, false))
			continue
		}
		own := answers
		own.Answers = answers.Answers[first : first+g.reads : first+g.reads]
		number(own.Answers, first)
		first += g.reads
		x.land(g.flight, &apipb.Reply{Id: g.id, Reply: &apipb.Reply_Read{Read: convert.AnswersToProto(&own)}})
	}
}

// number lets errors name the read of their own call, which is not the party's.
func number(answers []agent.Answer, first int) {
	for i, a := range answers {
		if first > 0 && a.Err != nil && a.Err.Op >= first {
			e := *a.Err
			e.Op -= first
			answers[i].Err = &e
		}
	}
}
