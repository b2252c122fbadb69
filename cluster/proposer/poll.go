package proposer

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/internal/seededbug"
)

// poll asks voters for their terms, in one round. It asks no more of them than a
// majority needs, unless one does not confirm, or not soon: a question costs both
// nodes more than the read of a row.
type poll struct {
	x        *ReadIndex
	term     uint64
	majority int
	yes      int           // voters in term, this node included
	asked    int           // voters without an answer
	others   []raft.Server // voters that were not asked, those that are likely to answer soon first
	answers  chan polled   // an answer of each voter fits
	overdue  bool          // the voters that were asked first had their time
}

// polled is the answer of one voter.
type polled struct {
	voter    raft.ServerID
	confirms bool
}

// confirmed reports whether a majority of the voters is in term.
func (x *ReadIndex) confirmed(ctx context.Context, term uint64) bool {
	configured := x.p.Raft.GetConfiguration()
	if configured.Error() != nil {
		return false
	}
	p := x.newPoll(term, configured.Configuration().Servers)
	var prompt []raft.ServerID
	p.ask(p.majority - p.yes)
	patience := time.NewTimer(askOthersAfter)
	defer patience.Stop()
	for p.yes < p.majority && p.yes+p.asked+len(p.others) >= p.majority {
		select {
		case answer := <-p.answers:
			p.asked--
			if answer.confirms {
				p.yes++
				prompt = append(prompt, answer.voter)
			} else {
				p.ask(1)
			}
		case <-patience.C:
			if p.overdue {
				return false
			}
			p.overdue = true
			p.ask(len(p.others))
			patience.Reset(x.Round - askOthersAfter)
		case <-ctx.Done():
			return false
		}
	}
	x.prompt = prompt
	return p.yes >= p.majority
}

// newPoll returns a poll that has asked no voter yet.
func (x *ReadIndex) newPoll(term uint64, servers []raft.Server) *poll {
	p := &poll{x: x, term: term, answers: make(chan polled, len(servers))}
	voters := 0
	for _, s := range servers {
		if s.Suffrage == raft.Voter {
			voters++
		} else if !seededbug.Is(seededbug.NonVotersConfirm) {
			continue
		}
		switch {
		case string(s.ID) == x.Node:
			p.yes++ // round checks its own term last
		case x.Voters != nil:
			p.others = append(p.others, s)
		}
	}
	p.majority = voters/2 + 1
	slices.SortStableFunc(p.others, func(a, b raft.Server) int { return x.rank(a) - x.rank(b) })
	return p
}

// rank returns the place of a voter in the order in which a round asks.
func (x *ReadIndex) rank(s raft.Server) int {
	if at := slices.Index(x.prompt, s.ID); at >= 0 {
		return at
	}
	return len(x.prompt)
}

// ask asks the next n of the voters that were not asked.
func (p *poll) ask(n int) {
	for range min(n, len(p.others)) {
		s := p.others[0]
		p.others = p.others[1:]
		p.asked++
		p.x.Voters.Term(string(s.Address), func(node string, term uint64, err error) {
			in := term == p.term || seededbug.Is(seededbug.AnyTermConfirms)
			p.answers <- polled{s.ID, err == nil && node == string(s.ID) && in}
		})
	}
}
