package peer

import (
	"dormouse/agent/layout"
	peerpb "dormouse/proto/peer"
)

func hostToProto(row *layout.Member) *peerpb.Host {
	if row == nil {
		return nil
	}
	return &peerpb.Host{
		Addr: row.RaftAddr, Version: row.Version, FeatureLevelMax: row.FeatureLevelMax, Zone: row.Zone, Weight: uint32(max(row.Weight, 0)),
	}
}

// hostFromProto returns the member row of the host that sent the request.
func hostFromProto(r *peerpb.OwnRequest) *layout.Member {
	p := r.Host
	if p == nil {
		return nil
	}
	return &layout.Member{
		ID: r.Node, Incarnation: r.Incarnation, RaftAddr: p.Addr, Version: p.Version, FeatureLevelMax: p.FeatureLevelMax, Zone: p.Zone, Weight: int(p.Weight), Host: true,
	}
}
