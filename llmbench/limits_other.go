//go:build !unix

package llmbench

// checkFiles knows no limit here.
func checkFiles(int) error { return nil }
