package document

// List is one page of a list.
type List[Row any] struct {
	Items []Row   `json:"items" nullable:"false"`
	Next  *string `json:"next" doc:"Pass it as after; null at the end"`
}

// ListOf returns the document of a page.
func ListOf[From, Row any](items []From, next string, row func(From) Row) List[Row] {
	page := List[Row]{Items: make([]Row, len(items))}
	for i, item := range items {
		page.Items[i] = row(item)
	}
	if next != "" {
		page.Next = &next
	}
	return page
}

func rowsOf[From, Row any](items []From, row func(From) Row) []Row {
	return ListOf(items, "", row).Items
}
