package conn

import (
	"encoding/binary"
	"net"
)

// records is a connection below TLS that returns the bytes of at most one TLS record (RFC 8446, 5.1) from a Read. So
// crypto/tls holds no later record, and it is known whether more bytes of the last timestamp follow.
type records struct {
	net.Conn
	buf  []byte
	held []byte // the part of buf that was not returned yet
	left int    // bytes of the current record that were not returned yet
	head []byte // the beginning of the head of the current record, if it was not returned completely
}

// recordHead is the size of a record's head, in bytes.
const recordHead = 5

// Read returns bytes of at most one record.
func (r *records) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(r.held) == 0 {
		if r.buf == nil {
			r.buf = make([]byte, maxFrame)
		}
		n, err := r.Conn.Read(r.buf)
		if n == 0 {
			return 0, err
		}
		r.held = r.buf[:n]
	}
	n := 0
	for n < len(p) && len(r.held) > 0 {
		if r.left == 0 { // the head
			p[n] = r.held[0]
			r.head = append(r.head, r.held[0])
			r.held = r.held[1:]
			n++
			if len(r.head) == recordHead {
				r.left = int(binary.BigEndian.Uint16(r.head[3:]))
				r.head = r.head[:0]
				if r.left == 0 {
					break
				}
			}
			continue
		}
		took := copy(p[n:], r.held[:min(len(r.held), r.left)])
		n += took
		r.held = r.held[took:]
		if r.left -= took; r.left == 0 {
			break
		}
	}
	return n, nil
}
