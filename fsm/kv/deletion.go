package kv

// Kinds of deletions by prefix; see keys.go for the form of all keys.
const (
	KindDeletion = "\xb0" // id → logpb.PrefixDeletion: the receipt
	KindDeleting = "\xb1" // id → the row of KindDeletion as the op wrote it, while rows are left to remove
)

// deletionKinds are part of ScopedKinds.
var deletionKinds = []string{KindDeletion, KindDeleting}
