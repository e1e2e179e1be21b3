package compat

// A Version is a range of releases of a tool that compute and print alike. A range begins with the release
// Since and ends before the next newer range.
type Version struct {
	Since string // the first release, such as "0.20"
	About string // how the range differs from the next older one

	figures func(Pass) Figures
	print   func(b *block, p Pass, f Figures)
	result  func(selection, Pass) ([]byte, error) // the result file; nil if its format is not known here
}
