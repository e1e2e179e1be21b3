package conn

// A piece is what one read took. All its bytes have the same timestamp.
type piece struct {
	n       int
	stamp   int64 // the kernel's, in nanoseconds since 1970; 0: none
	waited  bool  // there was nothing to read when the read began
	more    bool  // bytes with the same timestamp are left to read, or may be
	several bool  // these bytes were more than one segment, or may have been
}

// A batch is successive bytes of a connection with the same timestamp, which are one segment
// unless the kernel has joined several, or the reader could not tell them apart. Then only the
// last bytes arrived at the instant of the timestamp, and the others at unknown instants before.
type batch struct {
	number  uint32 // of the batch since the current request began, from 1; 0: none
	open    bool   // more of the batch is left to read, or may be
	waited  bool   // there was nothing to read when the first read began
	several bool   // the batch was more than one segment, or may have been
}

// read notes a read of some bytes.
func (b *batch) read(p piece) {
	if !b.open || p.waited { // after a wait nothing of the batch was left
		*b = batch{number: b.number + 1, waited: p.waited}
	}
	b.open, b.several = p.more, b.several || p.several
}
