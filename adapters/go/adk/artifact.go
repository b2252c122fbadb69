package adk

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/adk/v2/artifact"
	"google.golang.org/genai"

	"dormouse/sdk/go/agent"
	"dormouse/sdk/go/client"
)

// userPrefix begins the names of files that belong to a user, in all sessions.
const userPrefix = "user:"

// textMIME is the content type of an artifact that is text.
const textMIME = "text/plain"

// Artifacts is an artifact.Service. Its methods may be called concurrently.
type Artifacts struct{ scope client.Scope }

var _ artifact.Service = (*Artifacts)(nil)

// NewArtifacts returns an artifact service in a scope.
func NewArtifacts(scope client.Scope) *Artifacts { return &Artifacts{scope} }

// directory returns the prefix of the keys of a file's versions.
func directory(app, user, sessionID, file string) string {
	if strings.HasPrefix(file, userPrefix) {
		return keyOf(userArtifactKind, app, user, file) + "/"
	}
	return keyOf(artifactKind, app, user, sessionID, file) + "/"
}

// Versions are stored under math.MaxInt64 less the version, so that the newest is first.
const versionDigits = 19

func versionKey(directory string, version int64) string {
	return fmt.Sprintf("%s%0*d", directory, versionDigits, math.MaxInt64-version)
}

func versionIn(key, directory string) (int64, error) {
	inverse, err := strconv.ParseInt(strings.TrimPrefix(key, directory), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("value %s is not an artifact of this adapter: %w", key, err)
	}
	return math.MaxInt64 - inverse, nil
}

// stored is the metadata of a version: the part without its bytes.
type stored struct {
	Part *genai.Part `json:"part"`
}

// Save stores a part as the next version of a file, or as req.Version if that does not
// exist. A version has at most agent.ValueBytesMax bytes.
func (a *Artifacts) Save(ctx context.Context, req *artifact.SaveRequest) (*artifact.SaveResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, fmt.Errorf("request validation failed: %w", err)
	}
	if req.Version < 0 {
		return nil, fmt.Errorf("save artifact %s: version %d is negative: leave it out for the next one", req.FileName, req.Version)
	}
	at := directory(req.AppName, req.UserID, req.SessionID, req.FileName)
	put, err := putOf(req.Part)
	if err != nil {
		return nil, fmt.Errorf("save artifact %s: %w", req.FileName, err)
	}
	for attempt := 1; ; attempt++ {
		version := req.Version
		if version == 0 {
			newest, _, err := a.versions(ctx, at, 1)
			if err != nil {
				return nil, fmt.Errorf("save artifact %s: %w", req.FileName, err)
			}
			version = 1
			if len(newest) > 0 {
				version = newest[0] + 1
			}
		}
		put.Key = versionKey(at, version)
		_, err := a.scope.PutValue(ctx, put)
		taken := agent.CodeOf(err) == agent.CodeRevisionMismatch
		switch {
		case err == nil:
			return &artifact.SaveResponse{Version: version}, nil
		case taken && req.Version != 0:
			return nil, fmt.Errorf("save artifact %s: version %d exists already", req.FileName, version)
		case !taken || attempt == attemptsMax:
			return nil, fmt.Errorf("save artifact %s: %w", req.FileName, err)
		} // another writer saved this version: take the next one
	}
}

// putOf returns the op that stores a part under a key that must not exist.
func putOf(part *genai.Part) (agent.PutValue, error) {
	rest := *part
	put := agent.PutValue{ContentType: textMIME, Bytes: []byte(part.Text), IfRevision: new(uint64)}
	if part.InlineData != nil {
		blob := *part.InlineData
		put.Bytes, put.ContentType = blob.Data, blob.MIMEType
		blob.Data = nil
		rest.InlineData = &blob
	} else {
		rest.Text = ""
	}
	var err error
	put.Metadata, err = json.Marshal(stored{&rest})
	return put, err
}

// Load returns a version of a file, or the newest one; fs.ErrNotExist if there is none.
func (a *Artifacts) Load(ctx context.Context, req *artifact.LoadRequest) (*artifact.LoadResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, fmt.Errorf("request validation failed: %w", err)
	}
	at := directory(req.AppName, req.UserID, req.SessionID, req.FileName)
	_, v, err := a.version(ctx, at, req.Version)
	if err != nil {
		return nil, fmt.Errorf("load artifact %s: %w", req.FileName, err)
	}
	var meta stored
	if err := json.Unmarshal(v.Metadata, &meta); err != nil || meta.Part == nil {
		return nil, fmt.Errorf("load artifact %s: value %s is not an artifact of this adapter: %w", req.FileName, v.Key, err)
	}
	if meta.Part.InlineData != nil {
		meta.Part.InlineData.Data = v.Bytes
	} else {
		meta.Part.Text = string(v.Bytes)
	}
	return &artifact.LoadResponse{Part: meta.Part}, nil
}

// version reads a version, or the newest one if version is 0.
func (a *Artifacts) version(ctx context.Context, at string, version int64) (int64, *agent.Value, error) {
	for {
		which := version
		if version == 0 {
			newest, _, err := a.versions(ctx, at, 1)
			if err != nil {
				return 0, nil, err
			}
			if len(newest) == 0 {
				return 0, nil, fs.ErrNotExist
			}
			which = newest[0]
		}
		v, err := a.scope.GetValue(ctx, versionKey(at, which))
		switch missing := agent.CodeOf(err) == agent.CodeNotFound; {
		case missing && version != 0:
			return 0, nil, fs.ErrNotExist
		case !missing:
			return which, v, err
		} // the newest version was deleted since: read which one is the newest now
	}
}

// versions returns the versions of a file, newest first, and their keys. limit is 0 for
// all of them.
func (a *Artifacts) versions(ctx context.Context, at string, limit uint64) (versions []int64, keys []string, err error) {
	page := agent.Page{Prefix: at, Limit: limit}
	for {
		found, err := a.scope.ListValues(ctx, page)
		if err != nil {
			return nil, nil, err
		}
		for _, row := range found.Items {
			version, err := versionIn(row.Key, at)
			if err != nil {
				return nil, nil, err
			}
			versions, keys = append(versions, version), append(keys, row.Key)
		}
		if found.Next == "" || limit > 0 && uint64(len(versions)) >= limit { // a page may be empty although it has a next
			return versions, keys, nil
		}
		page.After = found.Next
	}
}

// Versions returns the versions of a file, newest first; fs.ErrNotExist if there is none.
func (a *Artifacts) Versions(ctx context.Context, req *artifact.VersionsRequest) (*artifact.VersionsResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, fmt.Errorf("request validation failed: %w", err)
	}
	versions, _, err := a.versions(ctx, directory(req.AppName, req.UserID, req.SessionID, req.FileName), 0)
	if err == nil && len(versions) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("versions of artifact %s: %w", req.FileName, err)
	}
	return &artifact.VersionsResponse{Versions: versions}, nil
}

// GetArtifactVersion returns what is known of a version, or of the newest one.
func (a *Artifacts) GetArtifactVersion(ctx context.Context, req *artifact.GetArtifactVersionRequest) (*artifact.GetArtifactVersionResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, fmt.Errorf("request validation failed: %w", err)
	}
	version, v, err := a.version(ctx, directory(req.AppName, req.UserID, req.SessionID, req.FileName), req.Version)
	if err != nil {
		return nil, fmt.Errorf("get artifact %s: %w", req.FileName, err)
	}
	return &artifact.GetArtifactVersionResponse{ArtifactVersion: &artifact.ArtifactVersion{
		Version: version, MimeType: v.ContentType, CreateTime: time.UnixMilli(v.CreatedAt),
	}}, nil
}

// Delete deletes a version of a file, or all versions in as few commits as they fit. It
// succeeds if there is none.
func (a *Artifacts) Delete(ctx context.Context, req *artifact.DeleteRequest) error {
	if err := req.Validate(); err != nil {
		return fmt.Errorf("request validation failed: %w", err)
	}
	at := directory(req.AppName, req.UserID, req.SessionID, req.FileName)
	keys := []string{versionKey(at, req.Version)}
	if req.Version == 0 {
		var err error
		if _, keys, err = a.versions(ctx, at, 0); err != nil {
			return fmt.Errorf("delete artifact %s: %w", req.FileName, err)
		}
	}
	for some := range slices.Chunk(keys, agent.CommitOpsMax) {
		ops := make([]agent.Op, len(some))
		for i, key := range some {
			ops[i] = &agent.DeleteValue{Key: key}
		}
		if _, err := a.scope.Apply(ctx, ops...); err != nil {
			return fmt.Errorf("delete artifact %s: %w", req.FileName, err)
		}
	}
	return nil
}

// List returns the names of the files of a session and of its user, in order.
func (a *Artifacts) List(ctx context.Context, req *artifact.ListRequest) (*artifact.ListResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, fmt.Errorf("request validation failed: %w", err)
	}
	names := []string{}
	for _, prefix := range []string{
		keyOf(artifactKind, req.AppName, req.UserID, req.SessionID) + "/", keyOf(userArtifactKind, req.AppName, req.UserID) + "/",
	} {
		page := agent.Page{Prefix: prefix, Limit: agent.ListLimitMax}
		for {
			found, err := a.scope.ListValues(ctx, page)
			if err != nil {
				return nil, fmt.Errorf("list artifacts: %w", err)
			}
			for _, row := range found.Items {
				file, err := namesIn(row.Key, prefix)
				if err != nil {
					return nil, fmt.Errorf("list artifacts: value %s is not an artifact of this adapter: %w", row.Key, err)
				}
				names = append(names, file[0])
			}
			if page.After = found.Next; page.After == "" {
				break
			}
		}
	}
	slices.Sort(names)
	return &artifact.ListResponse{FileNames: slices.Compact(names)}, nil
}
