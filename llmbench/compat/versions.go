package compat

// A Version is a range of releases of a tool that compute and print alike. A range begins
// with a release and ends before the next newer range.
type Version struct {
	Since string // the first release, such as "0.20"
	About string // what differs from the next older range

	figures func(Pass) Figures
	print   func(b *block, p Pass, f Figures)
	result  func(selection, Pass) ([]byte, error) // the file of results; nil if the tool's is not known here
}
