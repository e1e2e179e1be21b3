package conn

import "golang.org/x/sys/unix"

const (
	// maxLook is how many segments a reader looks for at most among those that have arrived. A
	// reader that is further behind takes them together. Each costs about five system calls.
	maxLook = 64
	// maxLookBytes is how many bytes a reader looks at.
	maxLookBytes = 64 << 10
)

// nowhere is where the kernel would put bytes that nobody wants. With MSG_TRUNC it copies none.
var nowhere [maxLookBytes]byte

// A run is bytes that have arrived, and that the kernel keeps with one timestamp.
type run struct {
	n     int
	stamp int64 // 0: not known before the read
}

// A queue is what a reader knows of the bytes that have arrived and were not read.
type queue struct {
	began   bool  // bytes and segments are counted
	bytes   int64 // the kernel's count of bytes at the last look; see mark
	counted int64 // the kernel's count of segments at the last look
	looked  int64 // the wall clock before the last look, in nanoseconds since 1970: what has a later timestamp may not be in the counts
	runs    []run // what was there at the last look and was not read
	several bool  // one of the runs is more than one segment, or may be
}

// mark begins to count bytes and segments when a request begins. Unread data from before, such
// as messages of TLS, counts as one run.
func (s *stampedReader) mark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = queue{runs: s.queue.runs[:0]}
	left, ok := s.unread()
	q := s.askInfo()
	defer infoQueries.Put(q)
	if !ok || !q.ok {
		return
	}
	s.queue.began, s.queue.bytes, s.queue.counted = true, int64(q.info.Bytes_received), int64(q.info.Data_segs_in)
	if left > 0 {
		s.queue.runs = append(s.queue.runs, run{n: left})
	}
}

// look finds out what has arrived since all was read. Without an answer of the kernel, or if nothing
// has arrived, there are no runs.
func (s *stampedReader) look(fd uintptr) {
	k := &s.queue
	k.looked = WallClock()
	q := infoQueries.Get().(*infoQuery)
	defer infoQueries.Put(q)
	q.info = unix.TCPInfo{}
	q.getsockopt(fd)
	n, segments := int64(q.info.Bytes_received)-k.bytes, int64(q.info.Data_segs_in)-k.counted
	if k.runs = k.runs[:0]; !q.ok || q.info.Data_segs_in == 0 || n <= 0 {
		return
	}
	k.bytes, k.counted = k.bytes+n, k.counted+segments
	k.fill(int(n), int(segments), func(i int) int64 { return s.stampAt(fd, i) })
}

// fill sets the runs of the n bytes in so many segments that have arrived. The function stampAt returns the
// timestamp of the i-th byte, from 1.
//
// More may arrive after the clock was read, and the kernel joins what arrives to the last run, which
// then has a later timestamp. That run gets its timestamp from the read.
func (k *queue) fill(n, segments int, stampAt func(i int) int64) {
	if segments <= 1 || segments > maxLook || n > maxLookBytes {
		k.runs = append(k.runs, run{n: n})
		k.several = segments > 1
		return
	}
	k.runs = split(k.runs, n, n/segments, stampAt)
	k.several = len(k.runs) < segments
	end := len(k.runs) - 1
	if last := k.runs[end].stamp; last > k.looked || stampAt(n) != last {
		for end > 0 && k.runs[end-1].stamp >= last { // what split found while the timestamp changed
			end--
			k.runs[end].n += k.runs[end+1].n
		}
		k.runs[end].stamp = 0
		k.runs, k.several = k.runs[:end+1], true
	}
}

// split appends the runs of the next n bytes to runs. The function stampAt returns the timestamp of the
// i-th byte, from 1. The first run probably has about guess bytes, from 1 to n.
func split(runs []run, n, guess int, stampAt func(i int) int64) []run {
	begin, stamp, last := 0, stampAt(1), stampAt(n)
	for stamp != last {
		// Byte in is the last one known to be of the run, and byte out the first one known to be
		// of a later run.
		in, out, next := begin+1, n, last
		for step := 1; in+1 < out; step *= 2 {
			at := begin + guess
			switch {
			case at <= in:
				at = min(in+step, (in+out)/2)
			case at >= out:
				at = max(out-step, (in+out)/2)
			}
			if got := stampAt(at); got == stamp {
				in = at
			} else {
				out, next = at, got
			}
		}
		runs = append(runs, run{n: in - begin, stamp: stamp})
		begin, stamp, guess = in, next, in-begin // the next run is probably as long
	}
	return append(runs, run{n: n - begin, stamp: stamp})
}

// stampAt returns the timestamp of the i-th byte of those that were not read, from 1; 0 if there is
// none.
func (s *stampedReader) stampAt(fd uintptr, i int) int64 {
	_, stamp, _ := s.recvmsg(fd, &nowhere[0], i, unix.MSG_PEEK|unix.MSG_TRUNC)
	return stamp
}
