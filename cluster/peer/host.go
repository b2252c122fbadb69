package peer

import (
	"dormouse/agent"
	peerpb "dormouse/proto/peer"
)

func hostToProto(row *agent.Member) *peerpb.Host {
	if row == nil {
		return nil
	}
	return &peerpb.Host{
		Addr: row.RaftAddr, Version: row.Version, FeatureLevelMax: row.FeatureLevelMax, Zone: row.Zone, Weight: uint32(max(row.Weight, 0)),
	}
}

func hostFromProto(p *peerpb.Host) *agent.Member {
	if p == nil {
		return nil
	}
	return &agent.Member{
		RaftAddr: p.Addr, Version: p.Version, FeatureLevelMax: p.FeatureLevelMax, Zone: p.Zone, Weight: int(p.Weight), Host: true,
	}
}
