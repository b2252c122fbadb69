package main

import (
	"context"
	"fmt"

	"dormouse/bench/dormouse"
	"dormouse/bench/load"
	"dormouse/bench/system"
)

// etcdClients is the default number of connections to etcd; its own benchmark has
// several too.
const etcdClients = 8

// access says where a running system is, and how to call it.
type access struct {
	endpoints         []string
	caFile, tokenFile string // "" for none
}

func accessTo(s *system.System) access { return access{s.Endpoints, s.CAFile, s.TokenFile} }

// open returns a system's driver. If connections is 0 each system gets a suitable
// number.
func open(ctx context.Context, name string, at access, connections, callers int) (load.Driver, error) {
	or := func(n int) int {
		if connections > 0 {
			return connections
		}
		return n
	}
	endpoints := at.endpoints
	switch name {
	case system.Dormouse, system.DormouseSecured, system.DormouseFollow:
		return dormouse.Dial(dormouse.Options{
			Endpoints: endpoints, Clients: or(1), Fixed: name == system.DormouseFollow, CAFile: at.caFile, TokenFile: at.tokenFile,
		})
	case system.DormouseSpread:
		return dormouse.Dial(dormouse.Options{Endpoints: endpoints, Clients: or(len(endpoints)), Spread: true})
	case system.DormouseHTTP, system.DormouseHTTP2:
		return dormouse.DialHTTP(endpoints, name == system.DormouseHTTP2), nil
	case system.EtcdHTTP:
		return dialEtcdGateway(endpoints), nil
	case system.Etcd:
		return dialEtcd(endpoints, or(min(etcdClients, callers)))
	case system.EtcdLeader:
		return dialEtcdLeader(ctx, endpoints, or(min(etcdClients, callers)))
	case system.Postgres:
		return dialPostgres(ctx, endpoints[0], or(callers))
	case system.Redis:
		return dialRedis(endpoints[0], or(callers)), nil
	default:
		return nil, fmt.Errorf("unknown system %q: see dormbench list", name)
	}
}
