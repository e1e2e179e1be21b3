package backends

// ForgetMissing forgets which servers have no metrics.
func ForgetMissing() { missing.Clear() }
