package main

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/agent/turnsnap"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func sessionsSnapshot(a *kit.App) *cobra.Command {
	cmd := cli.Group("snapshot", "Snapshots of turns as portable, signed strings", snapshotSign(a), snapshotVerify(a), snapshotShow(a))
	cmd.Long = `A portable snapshot is a signed string (HMAC-SHA256) that another cluster, a queue or
a file can carry. A key is ID=FILE, where FILE holds its secret: at least 32 random
bytes; white space at the end is ignored. The first --signing-key signs; any of them
verifies.`
	return cmd
}

// keyFlags name the keys of a ring.
type keyFlags struct{ keys []string }

func (k *keyFlags) define(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&k.keys, "signing-key", nil, "ID=FILE: a key's id and the file with its secret; the first one signs")
}

func (k *keyFlags) ring(a *kit.App) (*turnsnap.Ring, error) {
	var keys []turnsnap.Key
	for _, named := range k.keys {
		id, path, ok := strings.Cut(named, "=")
		if !ok || path == "" {
			return nil, cli.Usagef("--signing-key %s: a key is ID=FILE", named)
		}
		secret, err := a.File("the secret of key "+id, path)
		if err != nil {
			return nil, err
		}
		keys = append(keys, turnsnap.Key{ID: id, Secret: []byte(strings.TrimRight(string(secret), " \t\r\n"))})
	}
	if len(keys) == 0 {
		return nil, cli.Usagef("name a key: --signing-key ID=FILE")
	}
	return turnsnap.NewRing(keys[0], keys[1:]...)
}

func snapshotSign(a *kit.App) *cobra.Command {
	var keys keyFlags
	var id string
	cmd := &cobra.Command{
		Use: "sign SESSION --signing-key ID=FILE", Short: "Print a session's snapshot as a signed string", Args: cli.Exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ring, err := keys.ring(a)
			if err != nil {
				return err
			}
			return kit.Show(a, cmd, &agent.GetSession{Session: args[0]}, func(session *agent.Session) error {
				snapshot, err := snapshotOf(session, id)
				if err != nil {
					return err
				}
				portable, err := ring.Sign(*snapshot)
				if err != nil {
					return err
				}
				var g cli.Grid
				g.Add(portable)
				return a.Print(struct {
					Portable string `json:"portable"`
				}{portable}, g)
			})
		},
	}
	cmd.Flags().StringVar(&id, "snapshot", "", "id of the snapshot (default: the newest)")
	keys.define(cmd)
	return cmd
}

// snapshotOf is one of a session's snapshots; "" is the newest.
func snapshotOf(s *agent.Session, id string) (*agent.SessionSnapshot, error) {
	for i := len(s.Snapshots) - 1; i >= 0; i-- {
		if id == "" || s.Snapshots[i].ID == id {
			return &s.Snapshots[i], nil
		}
	}
	if id == "" {
		return nil, agent.Errorf(agent.CodeNotFound, "session %q has no snapshot", s.ID)
	}
	return nil, agent.Errorf(agent.CodeNotFound, "session %q has no snapshot %q", s.ID, id)
}

func snapshotVerify(a *kit.App) *cobra.Command {
	var keys keyFlags
	cmd := &cobra.Command{
		Use: "verify STRING --signing-key ID=FILE", Short: "Verify that a string was signed with one of the keys and was not changed", Args: cli.Exactly("STRING"),
		Long: "verify exits with 0 where it is, and says why not otherwise. STRING is the string itself, @FILE, or - for stdin.",
		RunE: func(_ *cobra.Command, args []string) error {
			snapshot, err := openSnapshot(a, &keys, args[0])
			if err != nil {
				return err
			}
			var g cli.Grid
			g.Add("ok", "snapshot "+snapshot.ID)
			return a.Print(struct {
				OK         bool   `json:"ok"`
				SnapshotID string `json:"snapshot_id"`
			}{true, snapshot.ID}, g)
		},
	}
	keys.define(cmd)
	return cmd
}

func openSnapshot(a *kit.App, keys *keyFlags, arg string) (agent.SessionSnapshot, error) {
	ring, err := keys.ring(a)
	if err != nil {
		return agent.SessionSnapshot{}, err
	}
	portable, err := a.BytesArg("the snapshot", arg)
	if err != nil {
		return agent.SessionSnapshot{}, err
	}
	return ring.Open(strings.TrimSpace(string(portable)))
}

// portableDoc is what is in a portable snapshot.
type portableDoc struct {
	SnapshotID string            `json:"snapshot_id"`
	AgentID    string            `json:"agent_id,omitzero"`
	RequestID  string            `json:"request_id,omitzero"`
	Phase      agent.CursorPhase `json:"phase"`
	LoopIndex  uint64            `json:"loop_index"`
	At         int64             `json:"at,omitzero"`
	TurnState  jsontext.Value    `json:"turn_state"`
	Metadata   jsontext.Value    `json:"metadata"`
}

func snapshotShow(a *kit.App) *cobra.Command {
	var keys keyFlags
	cmd := &cobra.Command{
		Use: "show STRING --signing-key ID=FILE", Short: "Verify a signed string, and show its content", Args: cli.Exactly("STRING"),
		Long: "STRING is the string itself, @FILE, or - for stdin.",
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := openSnapshot(a, &keys, args[0])
			if err != nil {
				return err
			}
			doc := portableDoc{
				SnapshotID: s.ID, AgentID: s.Agent, RequestID: s.RequestID, Phase: s.Cursor.Phase, LoopIndex: s.Cursor.LoopIndex, At: s.At,
				TurnState: jsontext.Value(s.TurnState), Metadata: jsontext.Value(s.Metadata),
			}
			var g cli.Grid
			g.Add("snapshot", s.ID)
			g.Add("agent", cli.OrDash(s.Agent))
			g.Add("request", cli.OrDash(s.RequestID))
			g.Add("phase", string(s.Cursor.Phase))
			g.Add("loop", cli.Number(s.Cursor.LoopIndex))
			g.Add("turn state", string(s.TurnState))
			g.Add("metadata", string(s.Metadata))
			return a.Print(doc, g)
		},
	}
	keys.define(cmd)
	return cmd
}
