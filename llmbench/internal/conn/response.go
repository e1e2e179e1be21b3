package conn

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
)

// A response reads the responses of one connection, and limits the size of their heads.
type response struct {
	*bufio.Reader // nil while a plain connection has nothing to read; see Conn.await
	limit         *io.LimitedReader
}

// maxHead is the maximum size of a response's head and of the interim responses before it, in bytes, and
// maxFields is the maximum number of its header fields.
const (
	maxHead   = 1 << 20
	maxFields = 1000
)

// newResponse returns a response with its own buffer. The buffer is small because each waiting stream has
// one.
func newResponse(r io.Reader) *response {
	p := newPlainResponse(r)
	p.Reader = bufio.NewReaderSize(p.limit, bufferSize)
	return p
}

// newPlainResponse returns a response without a buffer.
func newPlainResponse(r io.Reader) *response {
	return &response{limit: &io.LimitedReader{R: r, N: math.MaxInt64}}
}

// holds returns the number of bytes that were read but not used.
func (r *response) holds() int {
	if r.Reader == nil {
		return 0
	}
	return r.Buffered()
}

// Read reads from the current buffer.
func (r *response) Read(p []byte) (int, error) { return r.Reader.Read(p) }

// head reads the head of the response to req. It skips interim responses, which have a status of 1xx (RFC
// 9110, 15.2). The body of a stream reads from r, not directly from r's buffer, because await changes the
// buffer.
func (r *response) head(req *http.Request) (*http.Response, error) {
	r.limit.N = maxHead
	defer func() { r.limit.N = math.MaxInt64 }()
	if err := r.otherProtocol(); err != nil {
		return nil, err
	}
	for {
		resp, err := http.ReadResponse(r.Reader, req)
		switch {
		case err != nil && r.limit.N <= 0:
			return nil, fmt.Errorf("a response's head of more than %d bytes", maxHead)
		case err != nil:
			return nil, err
		case fields(resp.Header) > maxFields:
			return nil, fmt.Errorf("a response's head with %d fields: want at most %d", fields(resp.Header), maxFields)
		case resp.StatusCode == http.StatusSwitchingProtocols:
			resp.Close = true
			return resp, nil
		case resp.StatusCode < 100 || resp.StatusCode >= 200:
			switch {
			case resp.Body == http.NoBody || resp.ContentLength >= 0:
			case len(resp.TransferEncoding) > 0: // the encoding is chunked
				resp.Body = awaited{&chunkReader{in: r}}
			default: // the body lasts until the connection ends
				resp.Body = awaited{r}
			}
			return resp, nil
		}
	}
}

// fields returns the number of fields of a header.
func fields(h http.Header) (n int) {
	for _, values := range h {
		n += len(values)
	}
	return n
}

// otherProtocol returns an error if the next bytes belong to a protocol other than HTTP/1.1 that servers
// speak at the same ports.
func (r *response) otherProtocol() error {
	b, _ := r.Peek(1)
	switch {
	case len(b) == 0:
		return nil
	case b[0] == 21 || b[0] == 22: // the types of TLS records that come first (RFC 8446, 5.1)
		return errAnswersTLS
	case b[0] != 0: // no frame of HTTP/2 whose length is below 64 KiB
		return nil
	}
	const settings, goAway = 4, 7 // types of the frames that a server may send first (RFC 9113, 3.4 and 5.4.1)
	if b, _ := r.Peek(9); len(b) == 9 && (b[3] == settings || b[3] == goAway) && string(b[5:]) == "\x00\x00\x00\x00" {
		return errOnlyHTTP2
	}
	return nil
}

// errOnlyHTTP2 is the error of a request to a server that does not speak HTTP/1.1.
var errOnlyHTTP2 = errors.New("the server speaks only HTTP/2: want LLMBENCH_HTTP=2 (Target.HTTP), or a port that speaks HTTP/1.1")

// errAnswersTLS is the error of a request without TLS to a server with TLS.
var errAnswersTLS = errors.New("the server answers with TLS; the URL of such a server begins with https://")

// An awaited body ends with bytes that mark its end, or with the connection. A reader may therefore first
// wait until there is something to read from the connection. With any other body, the remaining bytes may
// already be in a buffer, and a wait for more would last until the timeout.
type awaited struct{ io.Reader }

func (awaited) Close() error { return nil }
