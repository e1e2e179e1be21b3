package endpoint

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"gotest.tools/v3/assert"
)

// A compressor compresses to a writer, and flushes.
type compressor interface {
	io.WriteCloser
	Flush() error
}

var compressors = map[string]func(io.Writer) compressor{
	"gzip":        func(w io.Writer) compressor { return gzip.NewWriter(w) },
	"deflate":     func(w io.Writer) compressor { return zlib.NewWriter(w) },
	"deflate raw": func(w io.Writer) compressor { c, _ := flate.NewWriter(w, 6); return c },
}

// TestFlushes checks that flushed data can be read before more is written.
func TestFlushes(t *testing.T) {
	for name, newCompressor := range compressors {
		encoding, _, _ := strings.Cut(name, " ")
		in, out := io.Pipe()
		c := newCompressor(out)
		pieces := []string{"data: one\n\n", strings.Repeat("data: two\n\n", 10000), "data: three\n\n"}
		next := make(chan struct{})
		go func() {
			for _, piece := range pieces {
				io.WriteString(c, piece)
				c.Flush()
				<-next // the reader has it
			}
			c.Close()
			out.Close()
		}()
		r, err := NewInflater(encoding, in)
		assert.NilError(t, err)
		for _, piece := range pieces {
			got := make([]byte, len(piece))
			_, err := io.ReadFull(r, got)
			assert.NilError(t, err, name)
			assert.Assert(t, string(got) == piece, name)
			next <- struct{}{}
		}
		rest, err := io.ReadAll(r)
		assert.NilError(t, err, name)
		assert.Equal(t, len(rest), 0)
	}
}

func compressed(newCompressor func(io.Writer) compressor, text string) string {
	var b bytes.Buffer
	c := newCompressor(&b)
	io.WriteString(c, text)
	c.Close()
	return b.String()
}

func TestErrors(t *testing.T) {
	for name, newCompressor := range compressors {
		encoding, _, _ := strings.Cut(name, " ")
		whole := compressed(newCompressor, "some text")
		read := func(body io.Reader) error {
			r, err := NewInflater(encoding, body)
			assert.NilError(t, err)
			_, err = io.ReadAll(r)
			return err
		}
		assert.NilError(t, read(strings.NewReader(whole)), name)
		assert.NilError(t, read(iotest.OneByteReader(strings.NewReader(whole))), name)
		assert.NilError(t, read(strings.NewReader("")), name)
		assert.ErrorIs(t, read(strings.NewReader(whole[:len(whole)-1])), io.ErrUnexpectedEOF, name)
		assert.ErrorIs(t, read(strings.NewReader(whole+"more than a header")), ErrCompressed, name)
		assert.ErrorIs(t, read(strings.NewReader("\xffplain text")), ErrCompressed, name)
		reset := errors.New("reset")
		assert.ErrorIs(t, read(io.MultiReader(strings.NewReader(whole[:5]), iotest.ErrReader(reset))), reset, name)
	}
	_, err := NewInflater("br", nil)
	assert.Error(t, err, `content encoding "br"; only gzip and deflate can be decoded`)
	_, err = NewInflater("X-GZIP", nil)
	assert.NilError(t, err)
}

// TestBomb checks that decoding ends if a small body decodes to a very large one.
func TestBomb(t *testing.T) {
	body := compressed(compressors["gzip"], strings.Repeat("\x00", 1<<20))
	r, err := NewInflater("gzip", io.MultiReader(strings.NewReader(body), strings.NewReader(body)))
	assert.NilError(t, err)
	r.left = 3 << 19
	n, err := io.Copy(io.Discard, r)
	assert.ErrorIs(t, err, ErrCompressed)
	assert.Assert(t, n <= 3<<19, "%d bytes", n)
}

func FuzzReader(f *testing.F) {
	for name, newCompressor := range compressors {
		f.Add(name, compressed(newCompressor, "data: {}\n\n"))
	}
	f.Fuzz(func(t *testing.T, encoding, body string) {
		r, err := NewInflater(encoding, strings.NewReader(body))
		if err != nil {
			return
		}
		r.left = 1 << 20
		n, err := io.Copy(io.Discard, r)
		assert.Assert(t, n <= 1<<20 && err != io.EOF, "%d bytes, %v", n, err)
	})
}
