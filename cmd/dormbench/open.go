package main

import (
	"context"
	"fmt"

	"dormouse/bench/dormouse"
	"dormouse/bench/load"
	"dormouse/bench/system"
)

// etcdClients is how many connections etcd gets, where it is left open: its own
// benchmark has several, too.
const etcdClients = 8

// open makes a system's driver. connections is 0 where it is left to us: then
// each system gets what suits it.
func open(ctx context.Context, name string, endpoints []string, connections, callers int) (load.Driver, error) {
	or := func(n int) int {
		if connections > 0 {
			return connections
		}
		return n
	}
	switch name {
	case system.Dormouse:
		return dormouse.Dial(endpoints, or(1), false)
	case system.DormouseFollow:
		return dormouse.Dial(endpoints, or(1), true)
	case system.DormouseHTTP:
		return dormouse.DialHTTP(endpoints), nil
	case system.Etcd:
		return dialEtcd(endpoints, or(min(etcdClients, callers)))
	case system.Postgres:
		return dialPostgres(ctx, endpoints[0], or(callers))
	case system.Redis:
		return dialRedis(endpoints[0], or(callers)), nil
	default:
		return nil, fmt.Errorf("there is no system %q", name)
	}
}
