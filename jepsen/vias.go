package jepsen

import (
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"

	"dormouse/jepsen/httpclient"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/catalog"
)

// vias draws what each process of a workload calls with. Half of the processes call over
// HTTP, if all calls of the workload have a form over HTTP.
func (r *run) vias(name string, processes int) []workload.Via {
	all := make([]workload.Via, processes)
	if web, _ := r.stage.web(); web == nil {
		return all
	}
	if catalog.OverHTTP(name) {
		for i := range processes / 2 {
			all[i] = workload.ViaHTTP
		}
	}
	lane := fnv.New64a()
	_, _ = lane.Write([]byte("via " + name))
	draw := rand.New(rand.NewPCG(r.options.Seed, lane.Sum64()))
	draw.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// connect gives a process its client of nodes: of only these if the process is bound to
// one. Every other HTTP client makes each call once; the rest retry as docs/http.md says.
func (r *run) connect(p *workload.Process, nodes []node) (io.Closer, error) {
	if p.Via == workload.ViaHTTP {
		transport, token := r.stage.web()
		urls := make([]string, len(nodes))
		for i, n := range nodes {
			urls[i] = n.url
		}
		c := httpclient.New(httpclient.Options{
			URLs: urls, Token: token, ID: fmt.Sprintf("%s/%d", p.Scope, p.ID), Retries: p.Rand.IntN(2) == 0, Transport: transport,
		})
		p.Client = workload.Narrow{Service: c}
		return c, nil
	}
	c, err := r.stage.dial(p.Scope, p.Node == "", addresses(nodes)...)
	p.Client = c
	return c, err
}
