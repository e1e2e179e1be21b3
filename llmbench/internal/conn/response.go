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
// The buffer is small because each waiting stream holds one.
type response struct {
	*bufio.Reader
	limit *io.LimitedReader
}

// maxHead is the maximum size of a response's head, in bytes.
const maxHead = 1 << 20

func newResponse(r io.Reader) response {
	l := &io.LimitedReader{R: r, N: math.MaxInt64}
	return response{bufio.NewReaderSize(l, 1<<10), l}
}

// head reads the head of the response to req. It skips interim responses, those with
// a status of 1xx (RFC 9110, 15.2).
func (r response) head(req *http.Request) (*http.Response, error) {
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
			if len(resp.TransferEncoding) > 0 && resp.Body != http.NoBody { // which is chunked
				resp.Body = io.NopCloser(&chunkReader{in: r.Reader})
			}
			return resp, nil
		}
	}
}
