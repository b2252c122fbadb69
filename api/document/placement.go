package document

import (
	"dormouse/agent"
)

// placementCandidate is a node that a key's partition may go to.
type placementCandidate struct {
	Node   string  `json:"node"`
	Zone   string  `json:"zone,omitempty"`
	Weight int     `json:"weight" doc:"The node's share beside that of the others"`
	Score  float64 `json:"score" doc:"How much the partition is drawn there; only the order matters"`
}

// placementForecast is what would be with a node more, or less.
type placementForecast struct {
	Moves int    `json:"moves" doc:"Partitions that would have another owner"`
	Owner string `json:"owner" doc:"Of this key's partition, then; empty for nobody"`
}

// PlacementAnswer is where the instance of a key lives, and why.
type PlacementAnswer struct {
	Partition  int                  `json:"partition"`
	Owner      string               `json:"owner" doc:"The node; empty where nobody owns it"`
	Epoch      uint64               `json:"epoch" doc:"Of the owning, never used again; 0 where nobody owns it"`
	State      string               `json:"state" doc:"free, owned or draining"`
	To         string               `json:"to,omitempty" doc:"Where it drains: for whom"`
	Since      int64                `json:"since" doc:"Unix ms; 0 where it was never owned"`
	SinceIndex uint64               `json:"since_index"`
	Why        string               `json:"why"`
	Candidates []placementCandidate `json:"candidates" nullable:"false" doc:"The nodes with a lease, the first choice first"`
	Forecast   *placementForecast   `json:"forecast,omitempty" doc:"Where with or without was given"`
}

// PlacementAnswerOf returns the document of the placement of a key.
func PlacementAnswerOf(p agent.Placement) PlacementAnswer {
	at := p.Partition
	out := PlacementAnswer{
		Partition: at.ID, Owner: at.Owner, Epoch: at.Epoch, State: string(at.State), To: at.To, Since: at.Since, SinceIndex: at.SinceIndex, Why: at.Why,
		Candidates: rowsOf(p.Candidates, func(c agent.PlacementCandidate) placementCandidate { return placementCandidate(c) }),
	}
	if f := p.Forecast; f != nil {
		out.Forecast = &placementForecast{Moves: f.Moves, Owner: f.Owner}
	}
	return out
}

// placedNode is a member's share of the partitions.
type placedNode struct {
	Node     string   `json:"node"`
	Zone     string   `json:"zone,omitempty"`
	Weight   int      `json:"weight"`
	Leased   bool     `json:"leased" doc:"It has a lease, and so may own partitions"`
	Owned    int      `json:"owned" doc:"Partitions; draining ones too"`
	Draining int      `json:"draining" doc:"…of which are to go"`
	Coming   int      `json:"coming" doc:"Partitions that drain for it"`
	Host     bool     `json:"host,omitzero" doc:"It keeps instances and no data"`
	Handlers []string `json:"handlers,omitempty" doc:"The Go handlers that are registered there"`
}

// movingPartition is a partition on its way from one node to another.
type movingPartition struct {
	Partition int    `json:"partition"`
	From      string `json:"from"`
	To        string `json:"to,omitempty"`
	Why       string `json:"why"`
}

// PlacementShares is who owns how much.
type PlacementShares struct {
	Nodes  []placedNode      `json:"nodes" nullable:"false"`
	Free   int               `json:"free" doc:"Partitions that nobody owns"`
	Moving []movingPartition `json:"moving" nullable:"false" doc:"Moves under way"`
}

// PlacementSharesOf returns the document of the placement of all partitions.
func PlacementSharesOf(p agent.Placement) PlacementShares {
	return PlacementShares{
		Nodes: rowsOf(p.Nodes, func(n agent.PlacedNode) placedNode { return placedNode(n) }), Free: p.Free,
		Moving: rowsOf(p.Moving, func(m agent.Partition) movingPartition {
			return movingPartition{Partition: m.ID, From: m.Owner, To: m.To, Why: m.Why}
		}),
	}
}
