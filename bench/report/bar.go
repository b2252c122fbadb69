package report

import "fmt"

// Bar is something that Dormouse set out to reach.
type Bar struct {
	Claim string
	Bound float64
	Least bool   // the bound is the least that will do; else the most
	Unit  string // "×" for ratios

	value func(*Document) (value float64, rounds int)
}

// The outcomes of a bar.
const (
	Pass       = "pass"
	Fail       = "FAIL"
	Unmeasured = "not measured"
)

// Verdict is a bar and what came of it.
type Verdict struct {
	Claim   string  `json:"claim"`
	Bound   float64 `json:"bound"`
	Least   bool    `json:"at_least"`
	Unit    string  `json:"unit"`
	Value   float64 `json:"value"`
	Rounds  int     `json:"rounds"`
	Outcome string  `json:"outcome"`
}

// Judge holds all bars against a document.
func Judge(d *Document) []Verdict {
	var list []Verdict
	for _, b := range bars() {
		value, rounds := b.value(d)
		v := Verdict{Claim: b.Claim, Bound: b.Bound, Least: b.Least, Unit: b.Unit, Value: value, Rounds: rounds, Outcome: Fail}
		switch {
		case rounds == 0:
			v.Outcome = Unmeasured
		case b.Least && value >= b.Bound, !b.Least && value <= b.Bound:
			v.Outcome = Pass
		}
		list = append(list, v)
	}
	return list
}

// The systems and workloads that bars name.
const (
	dormouse     = "dormouse"
	dormouseHTTP = "dormouse-http"
	etcd         = "etcd"
	etcdHTTP     = "etcd-http"
	postgres     = "postgres"
	redis        = "redis"

	workPut    = "put-1k"
	workAppend = "append-300-many"
	workTurn   = "turn"
	workGet    = "get-1k"
	workThaw   = "thaw"
	workMixed  = "mixed"
)

// against is a bar on how a figure of ours compares with a peer's.
func against(peer, workload string, callers int, f Figure, least bool, bound float64) Bar {
	return between(dormouse, peer, workload, callers, f, least, bound)
}

// between is a bar on how a figure of one system compares with another's.
func between(system, peer, workload string, callers int, f Figure, least bool, bound float64) Bar {
	claim := fmt.Sprintf("%s, %s at %d callers, against %s", f.Name, workload, callers, peer)
	if system != dormouse {
		claim = fmt.Sprintf("%s of %s, %s at %d callers, against %s", f.Name, system, workload, callers, peer)
	}
	return Bar{
		Claim: claim, Bound: bound, Least: least, Unit: "×",
		value: func(d *Document) (float64, int) {
			return d.ratio(at{system, workload, callers}, at{peer, workload, callers}, f)
		},
	}
}

// trial is a bar on the median of a trial's values.
func trial(name, claim string, least bool, bound float64, unit string) Bar {
	return Bar{Claim: claim, Bound: bound, Least: least, Unit: unit, value: func(d *Document) (float64, int) {
		var values []float64
		for _, t := range d.Trials {
			if t.Name == name && t.System == dormouse {
				values = append(values, t.Value)
			}
		}
		return Median(values), len(values)
	}}
}

// bars are all of them, in the order in which they are shown.
func bars() []Bar {
	var list []Bar
	for _, w := range []struct {
		work     string
		few, all float64 // at 64 and at 256 callers
	}{{workPut, 3, 3.5}, {workAppend, 4, 5}, {workTurn, 3.5, 4}, {workGet, 5, 5}, {workThaw, 3, 3}, {workMixed, 4, 4}} {
		list = append(list,
			against(etcd, w.work, 64, Rate, true, w.few), against(etcd, w.work, 256, Rate, true, w.all),
			against(etcd, w.work, 64, P99, false, 0.4), against(etcd, w.work, 256, P99, false, 0.4),
			against(etcd, w.work, 64, CPU, false, 0.25), against(etcd, w.work, 256, CPU, false, 0.25),
		)
	}
	return append(list,
		against(etcd, workPut, 1, P50, false, 1.2),
		between(dormouseHTTP, etcdHTTP, workPut, 64, Rate, true, 2), between(dormouseHTTP, etcdHTTP, workGet, 64, Rate, true, 2),
		between(dormouseHTTP, dormouse, workPut, 64, CPU, false, 1.5),
		against(postgres, workPut, 256, Rate, true, 2), against(postgres, workAppend, 256, Rate, true, 2.5), against(postgres, workTurn, 256, Rate, true, 2),
		against(redis, workTurn, 256, Rate, true, 0.6), against(redis, workPut, 1024, Rate, true, 0.8),
		trial(TrialWritten, "disk writes per put of 1 KiB and node, at 256 callers for a minute, compactions included", false, 3, "KiB"),
		trial(TrialMemory, "memory of a node at 1,000,000 agents of 1 KiB", false, 512, "MiB"),
		trial(TrialGrowth+" put-1k", "put at 1,000,000 agents, against 10,000", true, 0.7, "×"),
		trial(TrialGrowth+" append-300", "append at 1,000,000 agents, against 10,000", true, 0.7, "×"),
		trial(TrialGrowth+" get-1k", "get at 1,000,000 agents, against 10,000", true, 0.7, "×"),
		trial(TrialFailover, "silence after the leader was killed, default settings", false, 0.3, "s"),
		trial(TrialSilent, "silence after the leader's process was stopped and its connections stayed open, default settings", false, 1.5, "s"),
		trial(TrialNoisy, "p99 of a scope's put beside a scope that 256 callers flood, against alone", false, 2, "×"),
		trial(TrialNoisyLimited, "…if the policy of that scope allows 500 requests a second", false, 2, "×"),
		trial(TrialThread, "append at entry 100,000 of a thread, against entry 100", true, 0.8, "×"),
	)
}

// The trials, which bars and those who make them name alike.
const (
	TrialMemory       = "memory"
	TrialGrowth       = "growth"
	TrialWritten      = "written"
	TrialThread       = "thread"
	TrialFailover     = "failover"
	TrialSilent       = "failover-silent"
	TrialCatchUp      = "catch-up"
	TrialCatchUpEmpty = "catch-up empty" // of a follower without data
	TrialCatchUpLoad  = "catch-up empty under load"
	TrialCold         = "cold-start"
	TrialRedis        = "redis-protocol" // followed by a command of redis-benchmark
	TrialNoisy        = "noisy-neighbour"
	TrialNoisyLimited = "noisy-neighbour limited" // to some requests a second
)
