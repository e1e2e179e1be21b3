package conn

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A chunkReader reads a chunked body (RFC 9112, 7.1). It skips chunk extensions and the trailer. It
// replaces the reader of net/http, which needs a buffer that is large enough for a whole extension or
// trailer. Each waiting stream has a buffer, so buffers must be small.
type chunkReader struct {
	in    *response
	next  chunkPart // which part of the body comes next
	left  uint64    // unread bytes of the current chunk
	extra int       // bytes that were read since the last data
	err   error
}

// A chunkPart is a part of a chunked body.
type chunkPart int

const (
	chunkSize    chunkPart = iota // a line with the size of a chunk
	chunkData                     // the data of a chunk
	chunkEnd                      // the line end after the data
	chunkTrailer                  // a line of the trailer, which ends with an empty line
)

// maxExtra is the maximum size of an extension or a trailer, in bytes.
const maxExtra = 1 << 20

// Read reads data of the body. It waits until some data is available, but not until p is full.
func (c *chunkReader) Read(p []byte) (n int, err error) {
	for c.err == nil && (n < len(p) || c.next != chunkData) && (n == 0 || c.ready()) {
		if c.next != chunkData {
			c.err = c.readLine()
			continue
		}
		var got int
		got, c.err = c.in.Read(p[n:][:min(uint64(len(p)-n), c.left)])
		n += got
		c.extra = 0
		if c.left -= uint64(got); c.left == 0 {
			c.next = chunkEnd
		}
		if c.err == io.EOF {
			c.err = io.ErrUnexpectedEOF
		}
	}
	return n, c.err
}

// ready reports whether c can continue with the bytes in the buffer.
func (c *chunkReader) ready() bool {
	buffered, _ := c.in.Peek(c.in.Buffered())
	if c.next == chunkData {
		return len(buffered) > 0
	}
	return bytes.IndexByte(buffered, '\n') >= 0
}

// readLine reads the next line. It returns [io.EOF] after the last line.
func (c *chunkReader) readLine() error {
	line, crlf, err := c.line()
	switch {
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	case !crlf && c.next != chunkTrailer:
		return errors.New("chunked body: a line ends without CR")
	}
	switch c.next {
	case chunkSize:
		c.left, err = parseChunkSize(line)
		c.next = chunkData
		if c.left == 0 {
			c.next = chunkTrailer
		}
		return err
	case chunkEnd:
		if len(line) > 0 {
			return fmt.Errorf("chunked body: %q after the data of a chunk: want CR LF", excerpt(line))
		}
		c.next = chunkSize
	case chunkTrailer:
		if len(line) == 0 {
			return io.EOF
		}
		if line[0] != ' ' && line[0] != '\t' && bytes.IndexByte(line, ':') <= 0 {
			return fmt.Errorf("chunked body: %q in the trailer: want a header field", excerpt(line))
		}
	}
	return nil
}

// line reads a line. It returns the beginning of the line, up to the size of the buffer, without the line
// end. It also reports whether the line ends with CR LF. The result start is valid until the next read.
func (c *chunkReader) line() (start []byte, crlf bool, err error) {
	part, err := c.in.ReadSlice('\n')
	c.extra += len(part)
	if err == nil && c.extra <= maxExtra {
		start, crlf = bytes.CutSuffix(part, []byte("\r\n"))
		return bytes.TrimSuffix(start, []byte("\n")), crlf, nil
	}
	start = bytes.Clone(part)
	for err == bufio.ErrBufferFull && c.extra <= maxExtra {
		crlf = part[len(part)-1] == '\r'
		part, err = c.in.ReadSlice('\n')
		c.extra += len(part)
	}
	if c.extra > maxExtra {
		return nil, false, fmt.Errorf("chunked body: an extension or a trailer of more than %d bytes", maxExtra)
	}
	return start, crlf && len(part) == 1 || bytes.HasSuffix(part, []byte("\r\n")), err
}

// excerpt returns the beginning of a line, for use in an error. It hides credentials, because a server may
// repeat a credential of the request.
func excerpt(line []byte) string { return redact.Excerpt(string(line), 20) }

// parseChunkSize returns the size at the beginning of a line.
func parseChunkSize(line []byte) (uint64, error) {
	size, _, _ := bytes.Cut(line, []byte(";"))
	size = bytes.TrimRight(size, " \t")
	n, err := strconv.ParseUint(string(size), 16, 64)
	if err != nil {
		return 0, fmt.Errorf("chunked body: size %q of a chunk: want a hexadecimal number", excerpt(size))
	}
	return n, nil
}
