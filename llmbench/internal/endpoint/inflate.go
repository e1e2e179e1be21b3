package endpoint

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxDecoded is the maximum length in bytes of a decoded body. A compressed body may decode to a thousand
// times its length.
const MaxDecoded = 512 << 20

// ErrCompressed is wrapped by the error about a body that cannot be decoded, or is too long after decoding.
var ErrCompressed = errors.New("compressed body")

// An Inflater decodes a body. If the server flushes the body with an empty block, as RFC 1951 describes,
// the Inflater returns what was flushed without waiting for more.
type Inflater struct {
	open    func(*bufio.Reader) (io.Reader, error)
	raw     *bufio.Reader
	decoder io.Reader // nil before the first Read
	left    int64     // how many more decoded bytes are allowed
}

// NewInflater returns a reader that decodes the body r. The encoding is the value of the header
// Content-Encoding (RFC 9110, 8.4): gzip, x-gzip or deflate. For any other encoding, the error has the name
// of the encoding.
func NewInflater(encoding string, r io.Reader) (*Inflater, error) {
	var open func(*bufio.Reader) (io.Reader, error)
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "gzip", "x-gzip":
		open = func(r *bufio.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	case "deflate":
		open = openDeflate
	default:
		return nil, fmt.Errorf("content encoding %.40q; only gzip and deflate can be decoded", encoding)
	}
	return &Inflater{open: open, raw: bufio.NewReader(r), left: MaxDecoded}, nil
}

// openDeflate reads the zlib format. Some servers omit zlib's header (RFC 9110, 8.4.1.2); openDeflate also
// reads their format.
func openDeflate(r *bufio.Reader) (io.Reader, error) {
	head, err := r.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}

// Read decodes the body. At the end of the decoded body, Read reads the rest of the original body, so that
// the connection can be used again.
func (r *Inflater) Read(p []byte) (n int, err error) {
	if r.decoder == nil {
		if _, err := r.raw.Peek(1); err != nil { // the body is empty, or the connection has failed
			return 0, err
		}
		if r.decoder, err = r.open(r.raw); err != nil {
			r.decoder = nil
			return 0, classify(err)
		}
	}
	n, err = r.decoder.Read(p)
	if r.left -= int64(n); r.left < 0 {
		return 0, fmt.Errorf("%w: more than %d bytes after decoding", ErrCompressed, MaxDecoded)
	}
	if err == io.EOF {
		if rest, restErr := io.Copy(io.Discard, io.LimitReader(r.raw, 4<<10)); restErr != nil {
			err = restErr
		} else if rest > 0 {
			err = fmt.Errorf("%w: bytes after its end", ErrCompressed)
		}
	}
	return n, classify(err)
}

// classify makes an error of a decoder wrap ErrCompressed. It does not change errors of the connection.
func classify(err error) error {
	var corrupt flate.CorruptInputError
	if errors.As(err, &corrupt) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, zlib.ErrHeader) || errors.Is(err, zlib.ErrChecksum) || errors.Is(err, zlib.ErrDictionary) {
		return fmt.Errorf("%w: %w", ErrCompressed, err)
	}
	return err
}
