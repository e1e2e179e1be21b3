package conn

// A piece describes the bytes that one read returned. All of them have the same timestamp.
type piece struct {
	n       int
	stamp   int64 // the kernel's timestamp, in nanoseconds since 1970; 0 means none
	waited  bool  // no bytes were available when the read began
	more    bool  // more bytes with the same timestamp are, or may be, available
	several bool  // the bytes came, or may have come, in more than one segment
}

// A batch is a series of bytes of a connection with the same timestamp. Usually these are the bytes of one
// segment. But the kernel may have joined several segments, or the reader may be unable to tell several
// segments apart. In these cases, only the last bytes arrived at the instant of the timestamp, and the
// others arrived earlier, at unknown instants.
type batch struct {
	number  uint32 // number of the batch within the current request, from 1; 0 means none
	open    bool   // more bytes of the batch are, or may be, available
	waited  bool   // no bytes were available when the first read began
	several bool   // the batch came, or may have come, in more than one segment
}

// read adds a read to the batch, or begins the next batch with it.
func (b *batch) read(p piece) {
	if !b.open || p.waited { // a read that waited cannot belong to the last batch
		*b = batch{number: b.number + 1, waited: p.waited}
	}
	b.open, b.several = p.more, b.several || p.several
}
