package fsm

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"dormouse/proto/snapfile"
	"dormouse/storage"
)

// format is the content of the format file.
type format struct {
	Format    int    `json:"format"`
	ClusterID string `json:"cluster_id"` // "" until one is known
}

// readFormat reads the directory's format and cluster id, and refuses a newer format.
func (d *dataDir) readFormat() error {
	path := d.fs.PathJoin(d.dir, formatFile)
	raw, err := storage.ReadFile(d.fs, path, smallFileBytesMax)
	if errors.Is(err, os.ErrNotExist) {
		d.format = format{Format: dataDirFormat}
		return d.writeFormat(d.format)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &d.format); err != nil {
		return fmt.Errorf("%s is %w: %w", path, storage.ErrDamaged, err)
	}
	if d.format.Format > dataDirFormat {
		return fmt.Errorf("%w: this data directory was written by a newer version (format %d; this one reads up to %d): "+
			"start the newer version, or choose another --data-dir", storage.ErrForeign, d.format.Format, dataDirFormat)
	}
	return nil
}

func (d *dataDir) writeFormat(f format) error {
	raw, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode format: %w", err)
	}
	return storage.WriteFile(d.fs, d.fs.PathJoin(d.dir, formatFile), raw)
}

// Claim records the cluster that the machine's state belongs to. It returns an error if that is
// another cluster. Callers call it before they apply any entry of the cluster.
func (m *Machine) Claim(cluster string) error { return m.data.claim(cluster) }

// claim records the cluster of the directory, or returns an error if it belongs to another.
func (d *dataDir) claim(cluster string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if cluster == "" || cluster == d.format.ClusterID {
		return nil
	}
	if err := d.foreign(cluster); err != nil {
		return err
	}
	claimed := d.format
	claimed.ClusterID = cluster
	if err := d.writeFormat(claimed); err != nil {
		return err
	}
	d.format = claimed
	return nil
}

// foreign returns an error if the directory belongs to another cluster. Callers hold mu, or no
// other goroutine has the directory yet.
func (d *dataDir) foreign(cluster string) error {
	if cluster == "" || d.format.ClusterID == "" || cluster == d.format.ClusterID {
		return nil
	}
	return fmt.Errorf("%w: this data directory belongs to cluster %s, this node to cluster %s: "+
		"give the node back its own data directory, or an empty one to join with", storage.ErrForeign, d.format.ClusterID, cluster)
}

// accept returns an error unless the snapshot is of this cluster and this version can read it.
func (d *dataDir) accept(header *snapfile.SnapshotHeader) error {
	own := d.clusterID()
	if own == "" {
		d.mu.Lock()
		own = d.format.ClusterID
		d.mu.Unlock()
	}
	if header.ClusterId != "" && own != "" && header.ClusterId != own {
		return fmt.Errorf("%w: the snapshot is of cluster %s, this node belongs to cluster %s", storage.ErrForeign, header.ClusterId, own)
	}
	return acceptLevel("snapshot", header.FeatureLevel)
}

// acceptLevel returns an error if a state or a snapshot at a feature level may hold data that this
// version does not know. A replica that applied entries to it would diverge from the others.
func acceptLevel(what string, level uint32) error {
	if level > featureLevelMax {
		return fmt.Errorf("%w: the %s is of a cluster at feature level %d, this version supports %d: start the newer version again",
			storage.ErrForeign, what, level, featureLevelMax)
	}
	return nil
}
