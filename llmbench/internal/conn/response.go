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

// maxHead is the maximum size of a response's head, in bytes.
const maxHead = 1 << 20

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
	// These bytes begin every TLS record (RFC 8446, 5.1), but no HTTP response.
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
			case len(resp.TransferEncoding) > 0: // the encoding is chunked
				resp.Body = awaited{&chunkReader{in: r}}
			default: // the body lasts until the connection ends
				resp.Body = awaited{r}
			}
			return resp, nil
		}
	}
}

// An awaited body ends with bytes that mark its end, or with the connection. A reader may therefore first
// wait until there is something to read from the connection. With any other body, the remaining bytes may
// already be in a buffer, and a wait for more would last until the timeout.
type awaited struct{ io.Reader }

func (awaited) Close() error { return nil }
