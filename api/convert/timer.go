package convert

import (
	"dormouse/agent"
	apipb "dormouse/proto/api"
)

func listTimersToProto(r *agent.ListTimers) *apipb.ListTimers {
	return &apipb.ListTimers{Manager: r.Manager, Key: r.Key, Prefix: r.Prefix, After: r.After, Limit: r.Limit, Order: string(r.Order), Since: r.Since, Until: r.Until}
}

func listTimersFromProto(r *apipb.ListTimers) agent.Read {
	return &agent.ListTimers{
		Manager: r.GetManager(), Key: r.GetKey(), Page: pageFromProto(r),
	}
}
