package membership

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestNextVote(t *testing.T) {
	lead := elector{id: "n1", self: true, voter: true, ready: true}
	voter := func(id string) elector { return elector{id: id, voter: true, ready: true} }
	dead := func(id string) elector { return elector{id: id, voter: true, dead: true} }
	silent := func(id string) elector { return elector{id: id, voter: true} }
	spare := func(id string) elector { return elector{id: id, ready: true} }
	behind := func(id string) elector { return elector{id: id} }
	at := func(zone string, m elector) elector { m.zone = zone; return m }
	for name, c := range map[string]struct {
		target          int
		members         []elector
		promote, demote string
	}{
		"without a target all vote":                    {0, []elector{lead, voter("n2"), spare("n3"), spare("n4")}, "n3", ""},
		"without a target a dead voter stays":          {0, []elector{lead, voter("n2"), dead("n3")}, "", ""},
		"one that is behind waits":                     {0, []elector{lead, behind("n2")}, "", ""},
		"the target is reached":                        {3, []elector{lead, voter("n2"), voter("n3"), spare("n4")}, "", ""},
		"below the target a spare votes":               {3, []elector{lead, voter("n2"), spare("n4")}, "n4", ""},
		"a silent voter is not dead yet":               {3, []elector{lead, voter("n2"), silent("n3"), spare("n4")}, "", ""},
		"a spare replaces a dead voter":                {3, []elector{lead, voter("n2"), dead("n3"), spare("n4")}, "n4", ""},
		"then the dead voter loses its vote":           {3, []elector{lead, voter("n2"), dead("n3"), voter("n4")}, "", "n3"},
		"without a spare it stays":                     {3, []elector{lead, voter("n2"), dead("n3"), behind("n4")}, "", ""},
		"one that is back is a spare":                  {3, []elector{lead, voter("n2"), spare("n3"), voter("n4")}, "", ""},
		"more voters than the target":                  {1, []elector{lead, voter("n2"), voter("n3")}, "", "n2"},
		"a dead voter loses its vote first":            {3, []elector{at("a", lead), at("a", voter("n2")), at("a", voter("n3")), dead("n4"), spare("n5")}, "", "n4"},
		"the leader keeps its vote":                    {1, []elector{voter("a"), lead}, "", "a"},
		"a zone without a voter gets one":              {3, []elector{at("a", lead), at("a", voter("n2")), at("b", voter("n3")), at("c", spare("n4"))}, "n4", ""},
		"then a zone with two has one too many":        {3, []elector{at("a", lead), at("a", voter("n2")), at("b", voter("n3")), at("c", voter("n4"))}, "", "n2"},
		"a spare of the dead voter's zone comes first": {3, []elector{at("a", lead), at("b", voter("n2")), at("c", dead("n3")), at("a", spare("n4")), at("c", spare("n5"))}, "n5", ""},
		"equal zones stay as they are":                 {3, []elector{at("a", lead), at("b", voter("n3")), at("c", voter("n5")), at("b", spare("n2")), at("c", spare("n4"))}, "", ""},
	} {
		promote, demote := nextVote(c.members, c.target)
		if promote != c.promote || demote != c.demote {
			t.Errorf("%s: promote %q and demote %q, want %q and %q", name, promote, demote, c.promote, c.demote)
		}
	}
}

// Whatever the members are, votes move only in steps that keep the number of voters that
// are not dead, and they stop moving. Then no spare that is ready waits beside a dead voter.
func TestVotesSettle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "members")
		target := rapid.SampledFrom([]int{0, 1, 3, 5, 7}).Draw(t, "target")
		members := make([]elector, n)
		for i := range members {
			m := elector{id: fmt.Sprint("n", i), zone: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "zone")}
			switch rapid.IntRange(0, 4).Draw(t, "state") {
			case 0:
				m.voter, m.ready = true, true
			case 1:
				m.voter, m.dead = true, true
			case 2:
				m.voter = true
			case 3:
				m.ready = true
			}
			if i == 0 {
				m = elector{id: m.id, zone: m.zone, self: true, voter: true, ready: true}
			}
			members[i] = m
		}
		count := func() (voters, alive, dead, spares int) {
			for _, m := range members {
				switch {
				case m.voter && m.dead:
					voters, dead = voters+1, dead+1
				case m.voter:
					voters, alive = voters+1, alive+1
				case m.ready:
					spares++
				}
			}
			return voters, alive, dead, spares
		}
		for steps := 0; ; steps++ {
			promote, demote := nextVote(members, target)
			if promote == "" && demote == "" {
				break
			}
			if steps > 4*n {
				t.Fatalf("votes still move after %d steps: %+v", steps, members)
			}
			before, alive, _, _ := count()
			for i := range members {
				if members[i].id == promote {
					members[i].voter = true
				}
				if members[i].id == demote {
					members[i].voter = false
					if members[i].self {
						t.Fatal("the leader loses its vote")
					}
				}
			}
			after, aliveAfter, _, _ := count()
			if after < before && before <= target || aliveAfter < alive && alive <= target {
				t.Fatalf("%d voters of %d alive became %d of %d: %+v", before, alive, after, aliveAfter, members)
			}
			if target > 0 && after > before && after > target+1 {
				t.Fatalf("%d voters, and the target is %d", after, target)
			}
		}
		if _, _, dead, spares := count(); target > 0 && dead > 0 && spares > 0 {
			t.Fatalf("%d spares are ready beside %d dead voters: %+v", spares, dead, members)
		}
	})
}
