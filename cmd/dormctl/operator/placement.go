package operator

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent/layout"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

// trailDefault is the default of --events.
const trailDefault = 10

// pinsShown is the most pins that are listed for people.
const pinsShown = 10

func placementCommand(a *kit.App) *cobra.Command {
	cmd := cli.Group("placement", "Which node owns which partition of the instances", placementLs(a), placementExplain(a), placementMove(a), placementUnpin(a))
	cmd.Long = `The keys of live instances are hashed into 4,096 partitions. Each partition has one
owner, under an epoch that is never used again, while that node renews its lease.
Operators may pin a partition to a member (move), or drain a member (dormctl drain).`
	return cmd
}

func placementLs(a *kit.App) *cobra.Command {
	q := layout.PlacementQuery{}
	cmd := &cobra.Command{
		Use: "ls", Short: "Show how many partitions each node owns, and the latest changes of owners", Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				p, err := s.Placement(ctx, q)
				if err != nil {
					return err
				}
				return printShares(a, p)
			})
		},
	}
	cmd.Flags().IntVar(&q.Events, "events", trailDefault, "number of changes to show")
	return cmd
}

func placementExplain(a *kit.App) *cobra.Command {
	q := layout.PlacementQuery{}
	cmd := &cobra.Command{
		Use: "explain MANAGER KEY", Short: "Show which node owns a key's instance, and why", Args: cli.Exactly("MANAGER", "KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Scope, q.Manager, q.Key = a.Scope, args[0], args[1]
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				p, err := s.Placement(ctx, q)
				if err != nil {
					return err
				}
				return printExplained(a, p)
			})
		},
	}
	cmd.Flags().StringVar(&q.With, "with", "", "show what would move if this node joined")
	cmd.Flags().StringVar(&q.Without, "without", "", "show what would move if this node left")
	return cmd
}

type shareDoc struct {
	Node     string   `json:"node"`
	Zone     string   `json:"zone"`
	Weight   int      `json:"weight"`
	Leased   bool     `json:"leased"`
	Owned    int      `json:"owned"`
	Draining int      `json:"draining"`
	Coming   int      `json:"coming"`
	Host     bool     `json:"host,omitempty"`
	Handlers []string `json:"handlers,omitempty"`

	DrainedAt int64 `json:"drained_at,omitzero"`
}

type moveDoc struct {
	Time       string `json:"time"`
	Kind       string `json:"kind"`
	From       string `json:"from"`
	To         string `json:"to"`
	Partitions []int  `json:"partitions"`
	Why        string `json:"why"`
}

func printShares(a *kit.App, p layout.Placement) error {
	doc := struct {
		Nodes  []shareDoc `json:"nodes"`
		Free   int        `json:"free"`
		Pins   []pinDoc   `json:"pins"`
		Events []moveDoc  `json:"events"`
	}{Nodes: []shareDoc{}, Free: p.Free, Pins: pinsOf(p), Events: []moveDoc{}}
	shares := cli.Grid{Head: []string{"node", "zone", "weight", "lease", "drained", "partitions", "draining", "coming", "go handlers"}}
	for _, n := range p.Nodes {
		doc.Nodes = append(doc.Nodes, shareDoc(n))
		shares.Add(n.Node, n.Zone, strconv.Itoa(n.Weight), kit.Yes(n.Leased), kit.Yes(n.DrainedAt != 0), strconv.Itoa(n.Owned), strconv.Itoa(n.Draining), strconv.Itoa(n.Coming),
			strings.Join(n.Handlers, " "))
	}
	var notes []string
	if p.Free > 0 {
		notes = append(notes, fmt.Sprintf("%d partitions have no owner", p.Free))
	}
	if n := len(p.Pins); n > pinsShown {
		notes = append(notes, fmt.Sprintf("%d partitions are pinned: -o json lists them", n))
	} else {
		for _, pin := range p.Pins {
			notes = append(notes, fmt.Sprintf("partition %d is pinned to %s", pin.Partition, pin.Node))
		}
	}
	shares.Note = strings.Join(notes, "\n")
	trail := cli.Grid{Head: []string{"time", "event", "from", "to", "partitions", "why"}, Apart: true}
	for _, e := range p.Events {
		at := time.UnixMilli(e.Time).UTC().Format(time.RFC3339)
		doc.Events = append(doc.Events, moveDoc{Time: at, Kind: string(e.Kind), From: e.From, To: e.To, Partitions: e.Partitions, Why: e.Why})
		trail.Add(at, string(e.Kind), e.From, e.To, strconv.Itoa(len(e.Partitions)), e.Why)
	}
	if a.Output == kit.OutputTable && len(p.Events) > 0 {
		if err := a.PrintGrid(shares); err != nil {
			return err
		}
		return a.PrintGrid(trail)
	}
	return a.Print(doc, shares)
}

type candidateDoc struct {
	Node    string  `json:"node"`
	Weight  int     `json:"weight"`
	Score   float64 `json:"score"`
	Drained bool    `json:"drained,omitzero"`
}

type explainedDoc struct {
	Partition  int            `json:"partition"`
	State      string         `json:"state"`
	Owner      string         `json:"owner"`
	Epoch      uint64         `json:"epoch"`
	To         string         `json:"to,omitempty"`
	Since      int64          `json:"since"`
	SinceIndex uint64         `json:"since_index"`
	Why        string         `json:"why"`
	Pin        *pinDoc        `json:"pin,omitempty"`
	Candidates []candidateDoc `json:"candidates"`
	Moves      *int           `json:"moves,omitempty"`
	ThenOwner  *string        `json:"then_owner,omitempty"`
}

func printExplained(a *kit.App, p layout.Placement) error {
	if p.Partition == nil {
		return fmt.Errorf("the answer names no partition: does the node run an older version?")
	}
	of := p.Partition
	doc := explainedDoc{
		Partition: of.ID, State: string(of.State), Owner: of.Owner, Epoch: of.Epoch, To: of.To,
		Since: of.Since, SinceIndex: of.SinceIndex, Why: of.Why, Candidates: []candidateDoc{},
	}
	g := cli.Grid{Head: []string{"partition", "state", "owner", "epoch", "to", "pinned to", "why", "candidates"}}
	ranked := ""
	for _, c := range p.Candidates {
		doc.Candidates = append(doc.Candidates, candidateDoc{c.Node, c.Weight, c.Score, c.Drained})
		if ranked != "" {
			ranked += ", "
		}
		ranked += c.Node
		if c.Drained {
			ranked += " (drained)"
		}
	}
	pinned := ""
	if pins := pinsOf(p); len(pins) > 0 {
		doc.Pin, pinned = &pins[0], pins[0].Node
	}
	g.Add(strconv.Itoa(of.ID), string(of.State), of.Owner, strconv.FormatUint(of.Epoch, 10), of.To, pinned, of.Why, ranked)
	if f := p.Forecast; f != nil {
		doc.Moves, doc.ThenOwner = &f.Moves, &f.Owner
		g.Note = fmt.Sprintf("then %d partitions would move, and %q would own this one", f.Moves, f.Owner)
	}
	return a.Print(doc, g)
}
