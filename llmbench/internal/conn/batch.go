package conn

// segmentCounts are the numbers of TCP segments with data that arrived on a connection:
// of all, and of those that arrived out of order.
type segmentCounts struct{ arrived, reordered int64 }

// A batch is the bytes that were read from a connection until nothing was left to read. A
// read that fills its buffer is followed by a read of the same batch. All bytes of a read
// have the timestamp of the last segment that the read took. The timestamp is therefore
// exact for all bytes of the batch if the batch was one segment; otherwise the segments
// before the last one arrived at unknown instants.
type batch struct {
	number uint32 // of the batch among those of the current request, from 1; 0: none
	open   bool   // the last read filled its buffer: there may be more of the batch
	waited bool   // there was nothing to read when the first read began
	secure bool   // TLS is on top of the connection

	before int64  // number of segments that had arrived when the count of batches began
	taken  int64  // number of batches since then, with this one
	known  uint32 // number of the batch for which merged is known
	merged bool   // the batch was more than one segment, or may have been
}

// read notes a read of some bytes. Full says that it filled its buffer, and waited that
// there was nothing to read at first.
func (b *batch) read(full, waited bool) {
	if !b.open {
		b.number++
		b.waited = waited
		// What was there before the first read may be messages of TLS that arrived before
		// the request, and are counted already.
		if b.number > 1 || waited || !b.secure {
			b.taken++
		}
	}
	b.open = full
}

// several reports whether the last batch was more than one segment, or may have been. It
// compares the number of batches with the number of segments, and calls the functions at
// most once for each batch. Segments that arrived after the last read count as segments of
// the batch. The function unread returns how many bytes are left to read; both return false
// if they do not know.
func (b *batch) several(segments func() (segmentCounts, bool), unread func() (int, bool)) bool {
	if b.known == b.number {
		return b.merged
	}
	n, ok := segments()
	if !ok || n.arrived == 0 {
		return true // unknown
	}
	merged := n.arrived-b.before > b.taken
	if b.open {
		return merged
	}
	b.known, b.merged = b.number, merged
	if merged {
		// If nothing is left to read, this batch and earlier ones were all these segments.
		if left, ok := unread(); ok && left == 0 {
			b.before, b.taken = n.arrived, 0
		}
	}
	return merged
}
