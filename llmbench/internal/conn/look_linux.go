package conn

import "golang.org/x/sys/unix"

const (
	// maxLook is the maximum number of arrived segments that a reader tells apart. A reader that is further
	// behind reads them together. Each segment costs about five system calls.
	maxLook = 64
	// maxLookBytes is the maximum number of bytes in which a reader tells segments apart.
	maxLookBytes = 64 << 10
)

// nowhere is a buffer for bytes that are not needed. With MSG_TRUNC, the kernel copies nothing into it.
var nowhere [maxLookBytes]byte

// A run is a series of bytes that have arrived, and for which the kernel has one timestamp.
type run struct {
	n     int
	stamp int64 // 0 if not known before the read
}

// A queue describes the bytes that have arrived but were not read.
type queue struct {
	began   bool  // bytes and segments are being counted
	bytes   int64 // the kernel's count of bytes at the last look; see mark
	counted int64 // the kernel's count of segments at the last look
	looked  int64 // wall clock just before the last look, in ns since 1970; the counts may lack later segments
	runs    []run // the runs of the last look that were not read yet
	several bool  // one of the runs is, or may be, more than one segment
}

// mark starts counting bytes and segments, when a request begins. Unread data from before, such as TLS
// messages, counts as one run.
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

// look finds out what has arrived since everything was read. If nothing has arrived, or if the kernel does
// not answer, there are no runs.
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

// fill sets the runs. It receives the number of bytes and segments that have arrived, and the function
// stampAt, which returns the timestamp of the i-th byte, from 1.
//
// After the clock was read, more bytes may arrive. The kernel may join them to the last run, which then has
// a later timestamp. In this case the last run has no timestamp here; it gets one from the read.
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
		for end > 0 && k.runs[end-1].stamp >= last { // runs that split found while the timestamp changed
			end--
			k.runs[end].n += k.runs[end+1].n
		}
		k.runs[end].stamp = 0
		k.runs, k.several = k.runs[:end+1], true
	}
}

// split divides the next n bytes into runs, and appends these to runs. The function stampAt returns the
// timestamp of the i-th byte, from 1. The first run probably has about guess bytes, from 1 to n.
func split(runs []run, n, guess int, stampAt func(i int) int64) []run {
	begin, stamp, last := 0, stampAt(1), stampAt(n)
	for stamp != last {
		// Byte in is the last byte that is known to belong to the run. Byte out is the first byte that is
		// known to belong to a later run.
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
		begin, stamp, guess = in, next, in-begin // the next run probably has the same length
	}
	return append(runs, run{n: n - begin, stamp: stamp})
}

// stampAt returns the timestamp of the i-th unread byte, from 1. It returns 0 if there is none.
func (s *stampedReader) stampAt(fd uintptr, i int) int64 {
	_, stamp, _ := s.recvmsg(fd, &nowhere[0], i, unix.MSG_PEEK|unix.MSG_TRUNC)
	return stamp
}
