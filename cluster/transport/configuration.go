package transport

import (
	"fmt"

	"github.com/hashicorp/raft"
)

// checkConfiguration returns an error if an encoded configuration of Raft cannot be decoded, or is
// not one that a leader of this cluster writes. raft.DecodeConfiguration panics in the first case,
// which ends the process.
func checkConfiguration(raw []byte) (err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("the configuration cannot be decoded: %v", why)
		}
	}()
	voters, ids, addresses := 0, map[raft.ServerID]bool{}, map[raft.ServerAddress]bool{}
	for _, s := range raft.DecodeConfiguration(raw).Servers {
		switch {
		case s.ID == "" || s.Address == "":
			return fmt.Errorf("the configuration has the server %q without an id or an address", s)
		case ids[s.ID] || addresses[s.Address]:
			return fmt.Errorf("the configuration has two servers with the id %q or the address %q", s.ID, s.Address)
		case s.Suffrage != raft.Voter && s.Suffrage != raft.Nonvoter:
			return fmt.Errorf("the server %q of the configuration has the unknown suffrage %d", s.ID, s.Suffrage)
		}
		ids[s.ID], addresses[s.Address] = true, true
		if s.Suffrage == raft.Voter {
			voters++
		}
	}
	if voters == 0 {
		return fmt.Errorf("the configuration has %d servers, none of which votes", len(ids))
	}
	return nil
}
