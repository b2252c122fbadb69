package document

// ResultOf and FoundOf return the documents of a result of an op and of what a read found.
var (
	ResultOf = func(result any) (any, error) { return results.documentOf(result) }
	FoundOf  = func(found any) (any, error) { return founds.documentOf(found) }
)
