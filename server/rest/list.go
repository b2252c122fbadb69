package rest

// list is one page of a list.
type list[Row any] struct {
	Items []Row   `json:"items" nullable:"false"`
	Next  *string `json:"next" doc:"Pass it as after; null at the end"`
}

// listQuery are the query parameters of every list.
var listQuery = []string{"prefix", "after", "limit"}

// listOf writes a page.
func listOf[From, Row any](items []From, next string, row func(From) Row) list[Row] {
	page := list[Row]{Items: make([]Row, len(items))}
	for i, item := range items {
		page.Items[i] = row(item)
	}
	if next != "" {
		page.Next = &next
	}
	return page
}
