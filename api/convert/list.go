package convert

// each converts the items of a list.
func each[A, M any](items []A, convert func(*A) *M) []*M {
	out := make([]*M, len(items))
	for i := range items {
		out[i] = convert(&items[i])
	}
	return out
}

// eachFrom is the inverse of each.
func eachFrom[M, A any](items []*M, convert func(*M) *A) []A {
	out := make([]A, len(items))
	for i, item := range items {
		out[i] = *convert(item)
	}
	return out
}

// eachValid is eachFrom for items that may be invalid.
func eachValid[M, A any](items []*M, convert func(*M) (*A, error)) ([]A, error) {
	out := make([]A, len(items))
	for i, item := range items {
		converted, err := convert(item)
		if err != nil {
			return nil, err
		}
		out[i] = *converted
	}
	return out, nil
}
