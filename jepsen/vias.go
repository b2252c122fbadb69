package jepsen

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"dormouse/client"
	"dormouse/jepsen/command"
	"dormouse/jepsen/httpclient"
	"dormouse/jepsen/redisclient"
	"dormouse/jepsen/sdkclient"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/catalog"
)

// ctlPace is the mean wait of a process between two runs of dormctl, which cost more than
// a call.
const ctlPace = 300 * time.Millisecond

// vias draws what each process of a workload calls with. Half of the processes call over
// HTTP, if all calls of the workload have a form over HTTP, and a third over the protocol of Redis, if it has
// them. One process calls with a library for another language, and one runs dormctl.
func (r *run) vias(name string, processes int) []workload.Via {
	all := make([]workload.Via, processes)
	if r.stage.web() == nil {
		return all
	}
	if catalog.OverHTTP(name) {
		for i := range processes / 2 {
			all[i] = workload.ViaHTTP
		}
	}
	if r.redisScope() == r.scope(name) {
		for i := range processes / 3 {
			all[processes-1-i] = workload.ViaRedis
		}
	}
	if d, asks := r.stage.(tokenStage); asks && d.libraryOf(name) != "" && processes > 2 {
		all[processes/2] = d.libraryOf(name)
	}
	if catalog.ByCommand(name) && processes > 2 && r.stage.command(nil) != nil {
		all[processes-1] = workload.ViaCtl
	}
	lane := fnv.New64a()
	_, _ = lane.Write([]byte("via " + name))
	draw := rand.New(rand.NewPCG(r.options.Seed, lane.Sum64()))
	draw.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// connect gives a process its client of nodes: of only these if the process is bound to
// one.
func (r *run) connect(p *workload.Process, nodes []node) (io.Closer, error) {
	if p.Via == workload.ViaCtl {
		reads, err := r.stage.dial(p.Scope, p.Node == "", addresses(nodes)...)
		c := &command.Ctl{Run: r.stage.command(addresses(nodes)), ID: fmt.Sprintf("%s/%d", p.Scope, p.ID), Reads: reads}
		p.Client, p.Pace = workload.Narrow{Service: c}, ctlPace
		return reads, err
	}
	if d, asks := r.stage.(tokenStage); asks {
		p.Dial = func(token string) (workload.Client, io.Closer, error) { return r.dialAs(d, p, nodes, token) }
		c, closer, err := p.Dial(d.token())
		p.Client = c
		return closer, err
	}
	if p.Via == workload.ViaHTTP {
		c := r.overHTTP(p, nodes, "")
		p.Client = c
		return c, nil
	}
	if d, serves := r.stage.(redisStage); serves && p.Via == workload.ViaRedis {
		c := r.overRedis(p, nodes, d, "")
		p.Client = workload.Narrow{Service: c}
		return c, nil
	}
	c, err := r.stage.dial(p.Scope, p.Node == "", addresses(nodes)...)
	p.Client = workload.GoClient{Client: c}
	return c, err
}

// redisStage is a stage whose nodes serve clients of Redis.
type redisStage interface {
	// redis connects to a node's server for clients of Redis.
	redis(ctx context.Context, network, addr string) (net.Conn, error)
}

// tokenStage is a stage whose nodes ask for tokens.
type tokenStage interface {
	stage
	redisStage
	// token returns the token that may do everything.
	token() string
	// libraryOf returns the language of the library that a process of a workload calls with; "" if none does. library
	// starts a program that calls nodes with it.
	libraryOf(name string) workload.Via
	library(via workload.Via, token string, urls []string) (*sdkclient.Program, error)
	// dialAs is dial with a token.
	dialAs(token, scope string, roam bool, addrs ...string) (*client.Client, error)
}

// overHTTP returns an HTTP client for a process. A client that is bound to a node makes each call once, so that
// its answer is the outcome; one that may use any node retries as docs/http.md says.
func (r *run) overHTTP(p *workload.Process, nodes []node, token string) byHTTP {
	return byHTTP{httpclient.New(httpclient.Options{
		URLs: func() []string { return r.addressesOf(p, nodes, func(n node) string { return n.url }) }, Token: token, ID: fmt.Sprintf("%s/%d/%d", p.Scope, p.ID, r.dialled.Add(1)),
		Retries: p.Node == "", Transport: r.stage.web(), Attempted: workload.Attempted,
	})}
}

// overRedis returns a client of Redis for a process.
func (r *run) overRedis(p *workload.Process, nodes []node, d redisStage, token string) *redisclient.Client {
	return redisclient.New(redisclient.Options{
		Addresses: func() []string { return r.addressesOf(p, nodes, func(n node) string { return n.redis }) },
		Token:     token, Scope: p.Scope, Retries: p.Node == "", Protocol: 2 + p.ID%2, Dial: d.redis,
	})
}

// dialAs returns a client for a process that calls with a token.
func (r *run) dialAs(d tokenStage, p *workload.Process, nodes []node, token string) (workload.Client, io.Closer, error) {
	if p.Via == workload.ViaHTTP {
		c := r.overHTTP(p, nodes, token)
		return c, c, nil
	}
	if p.Via == workload.ViaRedis {
		c := r.overRedis(p, nodes, d, token)
		return workload.Narrow{Service: c}, c, nil
	}
	if p.Via != workload.ViaGRPC && p.Via == d.libraryOf(p.Workload) {
		program, err := d.library(p.Via, token, r.addressesOf(p, nodes, func(n node) string { return n.url }))
		if err != nil {
			return nil, nil, err
		}
		c := sdkclient.New(program, sdkclient.Mixed)
		return workload.Narrow{Service: c}, c, nil
	}
	c, err := d.dialAs(token, p.Scope, p.Node == "", addresses(nodes)...)
	return workload.GoClient{Client: c}, c, err
}

// byHTTP is the HTTP client as a client of workloads.
type byHTTP struct{ *httpclient.Client }

func (c byHTTP) Pods() workload.Pods { return c.PodCalls() }

// addressesOf returns the addresses that a process may use: of its node, or of those that run now.
func (r *run) addressesOf(p *workload.Process, first []node, of func(node) string) []string {
	nodes := first
	if p.Node == "" {
		if now := r.stage.nodes(); len(now) > 0 {
			nodes = rotated(now, p.ID)
		}
	}
	all := make([]string, len(nodes))
	for i, n := range nodes {
		all[i] = of(n)
	}
	return all
}

// redisScope returns the scope of the workload whose processes call over the protocol of Redis too; "" if none
// does. A node serves one scope, and builds from before the protocol serve none.
func (r *run) redisScope() string {
	if r.options.Target == nil && r.options.Previous == "" {
		for _, name := range r.options.Workloads {
			if catalog.ByRedis(name) {
				return r.scope(name)
			}
		}
	}
	return ""
}
