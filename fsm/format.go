package fsm

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// format is the content of the format file.
type format struct {
	Format    int    `json:"format"`
	ClusterID string `json:"cluster_id"` // "" until one is known
}

// readFormat reads the directory's format and cluster id, and refuses a newer format.
func (h *home) readFormat() error {
	path := h.fs.PathJoin(h.dir, formatFile)
	raw, err := storage.ReadFile(h.fs, path, smallFileBytesMax)
	if errors.Is(err, os.ErrNotExist) {
		h.format = format{Format: homeFormat}
		return h.writeFormat(h.format)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &h.format); err != nil {
		return fmt.Errorf("%s is %w: %w", path, storage.ErrDamaged, err)
	}
	if h.format.Format > homeFormat {
		return fmt.Errorf("%w: this data directory was written by a newer version (format %d; this one reads up to %d): "+
			"start the newer version, or choose another --data-dir", storage.ErrForeign, h.format.Format, homeFormat)
	}
	return nil
}

func (h *home) writeFormat(f format) error {
	raw, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode format: %w", err)
	}
	return storage.WriteFile(h.fs, h.fs.PathJoin(h.dir, formatFile), raw)
}

// Claim records the cluster that the machine's state belongs to. It returns an error if that is
// another cluster. Callers call it before they apply any entry of the cluster.
func (m *Machine) Claim(cluster string) error { return m.home.claim(cluster) }

// claim records the cluster of the directory, or returns an error if it belongs to another.
func (h *home) claim(cluster string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if cluster == "" || cluster == h.format.ClusterID {
		return nil
	}
	if err := h.foreign(cluster); err != nil {
		return err
	}
	claimed := h.format
	claimed.ClusterID = cluster
	if err := h.writeFormat(claimed); err != nil {
		return err
	}
	h.format = claimed
	return nil
}

// foreign returns an error if the directory belongs to another cluster. Callers hold mu, or no
// other goroutine has the home yet.
func (h *home) foreign(cluster string) error {
	if cluster == "" || h.format.ClusterID == "" || cluster == h.format.ClusterID {
		return nil
	}
	return fmt.Errorf("%w: this data directory belongs to cluster %s, this node to cluster %s: "+
		"give the node back its own data directory, or an empty one to join with", storage.ErrForeign, h.format.ClusterID, cluster)
}

// accept returns an error unless the snapshot is of this cluster and this version can read it.
func (h *home) accept(header *logpb.SnapshotHeader) error {
	own := h.clusterID()
	if own == "" {
		h.mu.Lock()
		own = h.format.ClusterID
		h.mu.Unlock()
	}
	if header.ClusterId != "" && own != "" && header.ClusterId != own {
		return fmt.Errorf("%w: the snapshot is of cluster %s, this node belongs to cluster %s", storage.ErrForeign, header.ClusterId, own)
	}
	return acceptLevel(header)
}

// acceptLevel returns an error if the snapshot may hold data that this version does not know.
func acceptLevel(header *logpb.SnapshotHeader) error {
	if header.FeatureLevel > featureLevelMax {
		return fmt.Errorf("%w: the snapshot is of a cluster at feature level %d, this version supports %d: upgrade this node",
			storage.ErrForeign, header.FeatureLevel, featureLevelMax)
	}
	return nil
}
