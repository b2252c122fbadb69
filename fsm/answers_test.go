package fsm_test

import (
	"reflect"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
)

// withTTL returns a request that can apply for ttl.
func withTTL(seq uint64, ttl time.Duration) agent.Commit {
	c := requested(seq, 0, appendTo("t", `{}`))
	c.Request.TTL = ttl
	return c
}

func TestRequestsOutOfOrderShareRowsAndKeepTheirAnswers(t *testing.T) {
	r := newSubject(t)
	odd := []agent.Commit{withTTL(9, 0), withTTL(5, 0), withTTL(7, 0)}
	even := []agent.Commit{withTTL(8, 0), withTTL(4, 0), withTTL(6, 0)}
	first := append(r.batch(odd...), r.batch(even...)...)
	if got := r.rows(kv.KindAnswers); got != 2 {
		t.Fatalf("%d rows of answers after two entries", got)
	}
	again := r.batch(append(odd, even...)...)
	if !reflect.DeepEqual(first, again) {
		t.Fatalf("first\n%+v\nagain\n%+v", first, again)
	}
	for i, c := range append(odd, even...) {
		a := r.answer(&agent.GetAnswer{Client: "client", Seq: c.Request.Seq})
		if got, ok := a.Found.(*agent.Decided); !ok || !reflect.DeepEqual(*got, first[i]) {
			t.Fatalf("request %d: %+v, want %+v", c.Request.Seq, a, first[i])
		}
	}
	if got := len(loaded(r, "t")); got != 6 {
		t.Fatalf("%d entries, want 6", got)
	}
	if a := r.answer(&agent.GetAnswer{Client: "client", Seq: 3}); a.Err == nil || a.Err.Code != agent.CodeNotFound {
		t.Fatalf("request 3 was never made: %+v", a)
	}
}

func TestARowOfAnswersGoesWithItsLastRequest(t *testing.T) {
	r := newSubject(t)
	r.batch(withTTL(1, 0), withTTL(3, 0))
	r.batch(withTTL(2, 0), withTTL(4, 0))
	r.batch(requested(5, 4, appendTo("t", `{}`))) // settles 1 to 3
	if got := r.rows(kv.KindAnswers); got != 2 {
		t.Fatalf("%d rows of answers, want those of 4 and of 5", got)
	}
	if d := r.batch(withTTL(2, 0))[0]; d.Err == nil || d.Err.Code != agent.CodeRequestExpired {
		t.Fatalf("request 2 is settled, though its row stays: %+v", d)
	}
	if d := r.batch(withTTL(4, 0))[0]; d.Err != nil {
		t.Fatalf("request 4: %v", d.Err)
	}
	if a := r.answer(&agent.GetAnswer{Client: "client", Seq: 2}); a.Err == nil || a.Err.Code != agent.CodeRequestExpired {
		t.Fatalf("%+v", a)
	}
}

// An answer is never removed before its request can no longer apply, whatever the other requests in
// its row and in other rows do.
func TestAnswersOutliveOthersOfTheirRow(t *testing.T) {
	r := newSubject(t)
	start := r.tick
	long, short := 10*time.Minute, time.Minute
	r.batch(withTTL(1, short), withTTL(6, short))
	r.batch(withTTL(2, long), withTTL(3, short))
	r.batch(withTTL(7, short))
	r.tick = start + uint64(short.Milliseconds()) + 1
	for range 3 {
		r.batch()
	}
	if got := r.rows(kv.KindAnswers); got != 3 {
		t.Fatalf("%d rows of answers, want all: 2 stands, and 1 shares its row with 6", got)
	}
	if d := r.batch(withTTL(2, long))[0]; d.Err != nil || d.Result.Index != 2 {
		t.Fatalf("request 2: %+v", d)
	}
	r.tick = start + uint64(long.Milliseconds()) + 1
	for range 3 {
		r.batch()
	}
	if answers, clients, queue := r.rows(kv.KindAnswers), r.rows(kv.KindClient), r.rows(kv.KindDueTick); answers+clients+queue != 0 {
		t.Fatalf("%d answers, %d clients and %d rows in the queue are left", answers, clients, queue)
	}
}

// Inconsistent columns are reported as damage, not guessed at.
func TestColumnsOfAnswersFitEachOther(t *testing.T) {
	for name, row := range map[string]*logpb.ClientRow{
		"a time is missing":   {AnsweredMax: []uint64{9}, AnsweredCount: []uint64{1}, AnsweredBack: []uint64{0}},
		"a count is missing":  {AnsweredMax: []uint64{9}, AnsweredNotAfter: []uint64{1}, AnsweredBack: []uint64{0}},
		"a row is empty":      {AnsweredMax: []uint64{9}, AnsweredNotAfter: []uint64{1}, AnsweredCount: []uint64{0}},
		"requests are short":  {AnsweredMax: []uint64{9}, AnsweredNotAfter: []uint64{1}, AnsweredCount: []uint64{2}, AnsweredBack: []uint64{0}},
		"requests are beyond": {AnsweredMax: []uint64{9}, AnsweredNotAfter: []uint64{1}, AnsweredCount: []uint64{1}, AnsweredBack: []uint64{1, 0}},
	} {
		if err := fsm.CheckAnswered(row); err == nil {
			t.Errorf("%s, and it is taken", name)
		}
	}
	whole := &logpb.ClientRow{AnsweredMax: []uint64{9, 7}, AnsweredNotAfter: []uint64{1, 2}, AnsweredCount: []uint64{2, 1}, AnsweredBack: []uint64{1, 0, 0}}
	if err := fsm.CheckAnswered(whole); err != nil {
		t.Error(err)
	}
}

// An acknowledged request is refused until it can no longer apply, also if later ones expire earlier.
func TestAnAcknowledgedRequestOutlivesThoseThatExpireBeforeIt(t *testing.T) {
	r := newSubject(t)
	request := func(seq, low uint64, ttl time.Duration) [][]byte {
		return r.encode(agent.Commit{
			Request: agent.Request{Client: "c", Seq: seq, Low: low, TTL: ttl},
			Ops:     []agent.Op{&agent.PutValue{Key: "v"}},
		})
	}
	r.feed(request(1, 1, time.Second))
	long := request(2, 1, agent.RequestTTLMax)
	r.feed(long)
	r.feed(request(3, 3, time.Second))
	r.after(time.Minute).pass()
	if d := r.feed(long)[0]; d.Err == nil || d.Err.Code != agent.CodeRequestExpired {
		t.Errorf("the acknowledged request is decided as %+v", d)
	}
	if got := read[*agent.Value](r, &agent.GetValue{Key: "v"}).Revision; got != 3 {
		t.Errorf("the value is at revision %d after three requests", got)
	}
}
