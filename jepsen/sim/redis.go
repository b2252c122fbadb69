package sim

import (
	"context"
	"net"

	"dormouse/config"
)

// redisPort is the port of the server for clients of Redis.
const redisPort = ":redis"

// redisOf returns the settings of a host's server for clients of Redis.
func (c *Cluster) redisOf(host string) config.Redis {
	if c.redis == "" {
		return config.Redis{}
	}
	return config.Redis{Addr: host + redisPort, Scope: c.redis}
}

// Redis implements jepsen.Cluster.
func (c *Cluster) Redis(ctx context.Context, _, addr string) (net.Conn, error) {
	return c.clients.Dial(ctx, addr)
}
