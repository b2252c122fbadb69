package blob

// Limit makes each list of a directory return at most so many objects.
func Limit(s Store, most int) Store {
	d, _ := s.(*dir) // each caller has one
	d.most = most
	return d
}
