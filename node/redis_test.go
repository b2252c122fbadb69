package node_test

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

// A client of a follower writes and reads, and learns the outcome of a write that was on its way to
// a leader that is cut off: its node repeats the commit under the same request id.
func TestRedisThroughAFollowerOutlivesTheLeaderSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 0)
		w.redis = true
		w.found(3)
		through := w.follower()
		conn, err := w.links.Host("client").Dial(t.Context(), through.RedisAddr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // the test is over
		from := bufio.NewReader(conn)
		ask := func(command string) string {
			t.Helper()
			if _, err := fmt.Fprint(conn, command, "\r\n"); err != nil {
				t.Fatal(err)
			}
			line, err := from.ReadString('\n')
			if err == nil && strings.HasPrefix(line, "$") && !strings.HasPrefix(line, "$-1") {
				line, err = from.ReadString('\n')
			}
			if err != nil {
				t.Fatalf("%s: %v", command, err)
			}
			return strings.TrimSpace(line)
		}
		for command, want := range map[string]string{"SET k 1": "+OK", "SET once 1": "+OK"} {
			if got := ask(command); got != want {
				t.Fatalf("%s: %s", command, got)
			}
		}
		began := w.cutTheLeader()
		for _, turn := range [][2]string{{"SET k 2 NX", "$-1"}, {"SET new 1 NX", "+OK"}, {"DEL once", ":1"}, {"GET new", "1"}, {"GET once", "$-1"}} {
			if got := ask(turn[0]); got != turn[1] {
				t.Errorf("%s: %s, want %s", turn[0], got, turn[1])
			}
		}
		if took := time.Since(began); took > 2*deposedMax {
			t.Errorf("the commands took %v", took)
		}
		w.heal()
		w.agree()
		answers, err := w.leader().Service().Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "new"}}})
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := answers.Answers[0].Found.(*agent.Value); !ok || v.Revision != 1 {
			t.Errorf("the value that was written while the leader was lost: %+v", answers.Answers[0])
		}
	})
}
