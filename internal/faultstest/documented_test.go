package faultstest

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shell is a block of commands in a document.
type shell struct {
	assignments []string
	setup       []string // commands that end
	nodes       []string // commands of dormoused
}

// commandsUnder reads the first block of commands under a heading of a document.
func commandsUnder(t *testing.T, document, heading string) shell {
	t.Helper()
	raw, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(raw), "\n"+heading+"\n")
	_, block, opened := strings.Cut(section, "```sh\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !opened || !closed {
		t.Fatalf("%s has no commands under %q", document, heading)
	}
	var s shell
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "dormoused "):
			s.nodes = append(s.nodes, line)
		case regexp.MustCompile(`^[A-Z]+="`).MatchString(line):
			s.assignments = append(s.assignments, line)
		default:
			s.setup = append(s.setup, line)
		}
	}
	return s
}

// portsOf replaces the documented ports by free ones.
type portsOf struct {
	t     *testing.T
	taken map[string]string
}

var documentedAddr = regexp.MustCompile(`127\.0\.0\.1:76\d\d`)

func (p portsOf) in(text string) string {
	return documentedAddr.ReplaceAllStringFunc(text, func(addr string) string {
		if p.taken[addr] == "" {
			p.taken[addr] = freeAddrs(p.t, 1)[0]
		}
		return p.taken[addr]
	})
}

// run starts a command of the document in dir.
func (s shell) run(t *testing.T, dir, command string, ports portsOf) *process {
	t.Helper()
	script := strings.Join(append(s.assignments, command), "\n")
	p := &process{t: t, name: command, gone: make(chan struct{}), cmd: exec.Command("sh", "-euc", ports.in(script))}
	p.cmd.Dir = dir
	p.cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(dormoused)+":"+os.Getenv("PATH"))
	for name, addr := range map[string]string{"HTTP": "7600", "GRPC": "7601", "RAFT": "7602", "GOSSIP": "7603"} { // the defaults
		p.cmd.Env = append(p.cmd.Env, "DORMOUSE_"+name+"__ADDR="+ports.in("127.0.0.1:"+addr))
	}
	return p.begin()
}

// The four commands of docs/operations.md make a cluster of three voters that refuse calls
// without a token.
func TestTheDocumentedCommandsMakeASecuredCluster(t *testing.T) {
	t.Parallel()
	s := commandsUnder(t, "../../docs/operations.md", "## Founding and joining")
	if n := len(s.setup) + len(s.nodes); n != 4 || len(s.nodes) != 3 {
		t.Fatalf("the document has %d commands, %d of them nodes; want 4 and 3", n, len(s.nodes))
	}
	dir, ports := t.TempDir(), portsOf{t, map[string]string{}}
	for _, command := range s.setup {
		s.run(t, dir, command, ports).exits(0)
	}
	var nodes []*process
	for _, command := range s.nodes {
		nodes = append(nodes, s.run(t, dir, "exec "+command, ports))
	}
	root, token := "", regexp.MustCompile(`\bdorm_[0-9A-Za-z]{49}\b`)
	nodes[0].await("the root token", func() bool {
		for _, n := range nodes {
			root += token.FindString(n.said.String())
		}
		return root != ""
	})
	for _, addr := range []string{"127.0.0.1:7600", "127.0.0.1:7610", "127.0.0.1:7620"} {
		url := "http://" + ports.in(addr)
		nodes[0].await(addr+" to be ready", func() bool { return status(t.Context(), url+"/readyz") == http.StatusOK })
		if got := status(t.Context(), url+"/v1/cluster"); got != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d, want 401", addr, got)
		}
		nodes[0].await("three voters at "+addr, func() bool { return voters(t, url, root) == 3 })
	}
}

// voters returns how many voters a node names to the holder of a token.
func voters(t *testing.T, url, token string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v1/cluster", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	var status struct {
		Auth    string
		Members []struct{ Voter bool }
	}
	if err := json.NewDecoder(answer.Body).Decode(&status); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("status: %s, %v", answer.Status, err)
	}
	if status.Auth != "tokens" {
		t.Errorf("the node asks for %q, want tokens", status.Auth)
	}
	n := 0
	for _, m := range status.Members {
		if m.Voter {
			n++
		}
	}
	return n
}
