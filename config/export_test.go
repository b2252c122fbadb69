package config

// FlagOf returns the flag of a setting; "" if there is none.
func FlagOf(key string) string {
	for flag, sets := range flagKeys {
		if sets == key {
			return flag
		}
	}
	return ""
}
