package membership

import (
	"context"
	"time"

	"dormouse/cluster/raftlog"
	"dormouse/internal/pause"
)

// A node that comes back with an empty directory is another node under an old
// name. The cluster takes the old node's vote before it admits the new one (see
// Leader.replace). But the log that the new node is sent begins before that, with
// configurations in which its name had a vote: under a founder's name it would
// need no vote but its own, and would elect itself.
//
// So the leader that admits a node names an entry that it has written afterwards.
// Until the log here holds that entry, which no other history does, this node
// gives no votes, requests none, is not given one, and confirms no term to
// leaders. ADR 22 has the reasons.
//
// Until then the node does not stand for election either. A lone voter asks no
// other node, so it would raise its term with each attempt, and depose each leader
// that contacts it afterwards.

// JoiningTimeout is the election timeout of a node that must not stand for
// election.
const JoiningTimeout = 24 * time.Hour

// admissionPoll is the time between two checks for the entry of the admission.
const admissionPoll = 100 * time.Millisecond

// keepAdmission stores this node's admission before it follows a leader.
func (j *Joiner) keepAdmission(at raftlog.Admission) error {
	if err := j.Stores.Admission.Keep(at); err != nil {
		return err
	}
	if j.Stores.Admission.Over() {
		return nil
	}
	return j.SetTimeouts(JoiningTimeout, JoiningTimeout)
}

// Promote lets Raft stand for election once the log holds the entry of the
// admission. It returns when ctx ends.
func (j *Joiner) Promote(ctx context.Context) error {
	a := j.Stores.Admission
	for {
		select {
		case <-a.News:
		case <-ctx.Done():
			return nil
		}
		for !a.Over() {
			if !pause.For(ctx, admissionPoll) {
				return nil
			}
		}
		if err := j.SetTimeouts(j.HeartbeatTimeout, j.ElectionTimeout); err != nil {
			return err
		}
	}
}
