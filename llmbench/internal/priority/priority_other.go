//go:build !linux

package priority

// Best returns None, because this system has no other place, which why says.
func Best() (p Place, why string) { return None, "only Linux has better places" }

// A Hold is the time during which threads have a better place.
type Hold struct{}

// Take does nothing.
func Take(Place) *Hold { return nil }

// Release returns None.
func (*Hold) Release() (p Place, why string) { return None, "" }
