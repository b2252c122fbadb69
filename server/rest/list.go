package rest

// listQuery are the query parameters of every list.
var listQuery = []string{"prefix", "after", "limit"}
