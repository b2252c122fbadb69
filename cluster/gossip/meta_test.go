package gossip_test

import (
	"testing"

	"dormouse/cluster/gossip"
)

func TestMetadataOfAnEarlierVersionIsRead(t *testing.T) { gossip.CardOfEarlierVersion(t) }
