package conn

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
)

// A response reads the responses of one connection, and limits the size of a head.
type response struct {
	*bufio.Reader // nil while a plain connection has nothing to read; see Conn.await
	limit         *io.LimitedReader
}

// maxHead is the maximum size of a response's head, in bytes.
const maxHead = 1 << 20

// newResponse returns a response that has its own buffer. The buffer is small because each waiting
// stream holds one.
func newResponse(r io.Reader) *response {
	p := newPlainResponse(r)
	p.Reader = bufio.NewReaderSize(p.limit, bufferSize)
	return p
}

// newPlainResponse returns a response without a buffer.
func newPlainResponse(r io.Reader) *response {
	return &response{limit: &io.LimitedReader{R: r, N: math.MaxInt64}}
}

// holds returns how many bytes were read and not yet used.
func (r *response) holds() int {
	if r.Reader == nil {
		return 0
	}
	return r.Buffered()
}

// Read reads from the current buffer.
func (r *response) Read(p []byte) (int, error) { return r.Reader.Read(p) }

// head reads the head of the response to req. It skips interim responses, those with
// a status of 1xx (RFC 9110, 15.2). The body of a stream reads from r itself and not from its
// buffer, because await changes the buffer.
func (r *response) head(req *http.Request) (*http.Response, error) {
	r.limit.N = maxHead
	defer func() { r.limit.N = math.MaxInt64 }()
	// No response begins with these bytes, and each record of TLS does (RFC 8446, 5.1).
	if b, _ := r.Peek(1); len(b) > 0 && (b[0] == 21 || b[0] == 22) {
		return nil, errors.New("the server answers with TLS; the URL of such a server begins with https://")
	}
	for {
		resp, err := http.ReadResponse(r.Reader, req)
		switch {
		case err != nil && r.limit.N <= 0:
			return nil, fmt.Errorf("a response's head of more than %d bytes", maxHead)
		case err != nil:
			return nil, err
		case resp.StatusCode == http.StatusSwitchingProtocols:
			resp.Close = true
			return resp, nil
		case resp.StatusCode < 100 || resp.StatusCode >= 200:
			switch {
			case resp.Body == http.NoBody || resp.ContentLength >= 0:
			case len(resp.TransferEncoding) > 0: // which is chunked
				resp.Body = awaited{&chunkReader{in: r}}
			default: // until the end of the connection
				resp.Body = awaited{r}
			}
			return resp, nil
		}
	}
}

// An awaited body goes on until bytes that end it, or the end of the connection, have been read. So
// whoever reads it may first wait until there is something to read from the connection. The rest of
// any other body may be in a buffer already, and a wait for more would last until the timeout.
type awaited struct{ io.Reader }

func (awaited) Close() error { return nil }
