package tree

// OneOfEach returns the first element of each class, so that a test covers each class, even a new one.
func OneOfEach[T any](all []T, class func(T) string) []T {
	seen := make(map[string]bool)
	var first []T
	for _, one := range all {
		if !seen[class(one)] {
			seen[class(one)] = true
			first = append(first, one)
		}
	}
	return first
}
