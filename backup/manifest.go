package backup

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// format is the version of manifests and segments.
const format = 1

// The objects of a cluster.
const (
	backupsDir   = "/backups/"
	logDir       = "/log/"
	stateFile    = "/state"
	manifestFile = "/manifest.json"
	headFile     = "/head.json"
)

// Manifest describes a whole backup.
type Manifest struct {
	Format       int    `json:"format"`
	ClusterID    string `json:"cluster_id"`
	Name         string `json:"name"`
	Node         string `json:"node"` // that took it
	Version      string `json:"version"`
	Index        uint64 `json:"index"` // the last entry in it
	Term         uint64 `json:"term"`
	Chain        uint32 `json:"chain"`
	Time         int64  `json:"time"` // of the log, at the last entry; Unix milliseconds
	FeatureLevel uint32 `json:"feature_level"`
	StateHash    string `json:"state_hash"`  // over all rows
	StateBytes   int64  `json:"state_bytes"` // of the snapshot stream
	Bytes        int64  `json:"bytes"`       // of the object
	SHA256       string `json:"sha256"`      // of the object
	Encrypted    bool   `json:"encrypted"`
	StartedAt    int64  `json:"started_at"`  // by the node's clock; Unix milliseconds
	VerifiedAt   int64  `json:"verified_at"` // when the node had restored it again, and compared the state; 0 if it had no room for that
	Key          string `json:"-"`           // the public key that signed it
}

// NewName returns the name of a backup of a state that ends at index. Names sort as their indexes
// do. random distinguishes backups of two nodes.
func NewName(index uint64, began time.Time, random uint16) string {
	return fmt.Sprintf("%020d-%s-%04x", index, began.UTC().Format(nameTime), random)
}

const nameTime = "20060102T150405Z"

var backupName = regexp.MustCompile(`^(\d{20})-(\d{8}T\d{6}Z)-[0-9a-f]{4}$`)

// began returns when the backup of a name began; false if it is no name of a backup.
func began(name string) (time.Time, bool) {
	m := backupName.FindStringSubmatch(name)
	if m == nil {
		return time.Time{}, false
	}
	at, err := time.Parse(nameTime, m[2])
	return at, err == nil
}

// indexOf returns the index in the name of a backup; 0 if it is none.
func indexOf(name string) uint64 {
	m := backupName.FindStringSubmatch(name)
	if m == nil {
		return 0
	}
	index, _ := strconv.ParseUint(m[1], 10, 64) // no index of a log is larger
	return index
}

// check returns an error unless m can be the manifest of the backup with that name.
func (m *Manifest) check(cluster, name string) error {
	switch {
	case m.Format != format:
		return fmt.Errorf("it has format %d, and this program reads format %d: use the version that wrote it", m.Format, format)
	case m.ClusterID != cluster || m.Name != name:
		return fmt.Errorf("it describes backup %q of cluster %q: it was moved", m.Name, m.ClusterID)
	case m.Index == 0 || m.Bytes <= 0 || m.StateBytes <= 0 || len(m.SHA256) != 64 || len(m.StateHash) != 64:
		return fmt.Errorf("it is incomplete")
	}
	return nil
}

// SegmentRef is a segment as its name describes it.
type SegmentRef struct {
	From, To uint64 // the indexes of its first and its last entry
	Node     string // that shipped it
	Bytes    int64  // of the object
}

// object returns the name of the segment's object.
func (s SegmentRef) object(cluster string) string {
	return fmt.Sprintf("%s%s%020d-%020d-%s", cluster, logDir, s.From, s.To, s.Node)
}

var segmentName = regexp.MustCompile(`^(\d{20})-(\d{20})-([A-Za-z0-9_.-]+)$`)

// parseSegment returns the segment of an object's name.
func parseSegment(cluster, object string) (s SegmentRef, ok bool) {
	name, ok := strings.CutPrefix(object, cluster+logDir)
	m := segmentName.FindStringSubmatch(name)
	if !ok || m == nil {
		return s, false
	}
	from, err1 := strconv.ParseUint(m[1], 10, 64)
	to, err2 := strconv.ParseUint(m[2], 10, 64)
	return SegmentRef{From: from, To: to, Node: strings.Clone(m[3])}, err1 == nil && err2 == nil && from > 0 && to >= from
}

// Head says how far the log of a cluster has been shipped.
type Head struct {
	Format    int    `json:"format"`
	ClusterID string `json:"cluster_id"`
	To        uint64 `json:"to"`    // the last entry that was shipped
	Chain     uint32 `json:"chain"` // up to it
	Time      int64  `json:"time"`  // of the log, at that entry
	Node      string `json:"node"`  // that shipped it
}

// Began returns when the backup of a name began, by the name; zero if it is none.
func Began(name string) time.Time {
	at, _ := began(name)
	return at
}
