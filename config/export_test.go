package config

// FlagOf is the flag that sets a setting; "" is none.
func FlagOf(key string) string {
	for flag, sets := range flagKeys {
		if sets == key {
			return flag
		}
	}
	return ""
}
