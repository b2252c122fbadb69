package kv

import "crypto/sha256"

// metadataHashBytes is the length of the hash of a value in the index of metadata. A read compares the
// rows that it finds with the value itself.
const metadataHashBytes = 16

// MetadataKeysPrefix begins the index rows of a noun's rows by one key of their metadata. noun is the
// kind of these rows.
func MetadataKeysPrefix(scope, noun, key string) string {
	return IDKey(KindMetadata, scope, noun+key)
}

// MetadataPrefix begins the index rows of a noun's rows whose metadata has a value under a key.
func MetadataPrefix(scope, noun, key, value string) string {
	hash := sha256.Sum256([]byte(value))
	return MetadataKeysPrefix(scope, noun, key) + string(hash[:metadataHashBytes])
}

// MetadataBuildKey names the row of the build of a scope's index, in the form of an id, as all rows
// in the wall queue have.
func MetadataBuildKey(scope string) string { return IDKey(KindMetadataBuild, scope, "") }
