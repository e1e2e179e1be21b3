//go:build unix && !aix && !solaris

package store

import "syscall"

// mapMemory returns memory outside of Go's heap, or nil if there is none.
func mapMemory(size int) []byte {
	m, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return m
}

// unmapMemory frees memory that mapMemory returned.
func unmapMemory(m []byte) { syscall.Munmap(m) }
