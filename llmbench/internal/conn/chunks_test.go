package conn

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"gotest.tools/v3/assert"
)

// TestChunkReader reads chunked bodies through the small buffer of a connection. If net/http can read a
// body with its buffer of 4 KiB, the data must be the same.
func TestChunkReader(t *testing.T) {
	const failed = "failed"
	long := strings.Repeat("x", 3000)
	for _, tt := range []struct{ name, body, want string }{
		{"one chunk", "6\r\nanswer\r\n0\r\n\r\n", "answer"},
		{"chunks", "2\r\nan\r\n00004\r\nswer\r\n0\r\n\r\n", "answer"},
		{"line ends in the data", "8\r\nan\nsw\r\ner\r\n0\r\n\r\n", failed},
		{"data with line ends", "6\r\na\r\n\r\nb\r\n0\r\n\r\n", "a\r\n\r\nb"},
		{"spaces", "6 \t\r\nanswer\r\n0\r\n\r\n", "answer"},
		{"extensions", "6;a=b; c=\"d\"\r\nanswer\r\n0;e\r\n\r\n", "answer"},
		{"long extensions", "6;" + long + "\r\nanswer\r\n0;" + long + "\r\n\r\n", "answer"},
		{"extensions of each length", eachLength("1;", "\r\na\r\n") + "0\r\n\r\n", strings.Repeat("a", 300)},
		{"trailer", "6\r\nanswer\r\n0\r\nX-Time: 1\r\nX-Fold: a\r\n b\r\n\r\n", "answer"},
		{"long trailer", "6\r\nanswer\r\n0\r\nX: " + long + "\r\nY: 2\r\n\r\n", "answer"},
		{"trailer of many fields", "6\r\nanswer\r\n0\r\n" + strings.Repeat("X: y\r\n", 500) + "\r\n", "answer"},
		{"long data", "1388\r\n" + strings.Repeat("a", 5000) + "\r\n0\r\n\r\n", strings.Repeat("a", 5000)},
		{"empty", "0\r\n\r\n", ""},
		{"no size", "\r\nanswer\r\n0\r\n\r\n", failed},
		{"invalid size", "0x6\r\nanswer\r\n0\r\n\r\n", failed},
		{"size of 65 bits", "10000000000000006\r\nanswer\r\n0\r\n\r\n", failed},
		{"size line without CR", "6\nanswer\r\n0\r\n\r\n", failed},
		{"long size line without CR", "6;" + long + "\nanswer\r\n0\r\n\r\n", failed},
		{"data longer than its size", "5\r\nanswer\r\n0\r\n\r\n", failed},
		{"no header field in the trailer", "6\r\nanswer\r\n0\r\nHTTP/1.1 200 OK\r\n\r\n", failed},
		{"endless extension", "6;" + strings.Repeat("x", maxExtra) + "\r\nanswer\r\n0\r\n\r\n", failed},
		{"endless trailer", "6\r\nanswer\r\n0\r\n" + strings.Repeat("X: y\r\n", maxExtra/6+1) + "\r\n", failed},
	} {
		for way, wrap := range map[string]func(io.Reader) io.Reader{
			"": func(r io.Reader) io.Reader { return r }, ", byte by byte": iotest.OneByteReader, ", end with data": iotest.DataErrReader,
		} {
			t.Run(tt.name+way, func(t *testing.T) {
				const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
				theirs, err := http.ReadResponse(bufio.NewReader(strings.NewReader(head+tt.body)), nil)
				assert.NilError(t, err)
				if data, err := io.ReadAll(theirs.Body); err == nil {
					assert.Equal(t, string(data), tt.want)
				}

				in := newResponse(wrap(strings.NewReader(head + tt.body + "next")))
				resp, err := in.head(nil)
				assert.NilError(t, err)
				got, err := io.ReadAll(resp.Body)
				if err != nil {
					got = []byte(failed)
				}
				assert.Equal(t, string(got), tt.want, "%v", err)
				if err == nil {
					rest, _ := io.ReadAll(in)
					assert.Equal(t, string(rest), "next", "the bytes after the body")
				}
			})
		}
	}
}

// eachLength returns lines of 900 to 1199 bytes between before and after. The end of a line then comes at
// every position relative to the end of the buffer.
func eachLength(before, after string) string {
	var b strings.Builder
	for n := 900; n < 1200; n++ {
		b.WriteString(before + strings.Repeat("x", n-len(before)) + after)
	}
	return b.String()
}

// TestCutChunks checks that it is an error if a body ends anywhere before its end.
func TestCutChunks(t *testing.T) {
	const body = "6;a=b\r\nanswer\r\n0\r\nX: y\r\n\r\n"
	for n := range len(body) {
		got, err := io.ReadAll(&chunkReader{in: newResponse(strings.NewReader(body[:n]))})
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "%q", body[:n])
		assert.Assert(t, strings.HasPrefix("answer", string(got)))
	}
	lost := errors.New("lost")
	_, err := io.ReadAll(&chunkReader{in: newResponse(io.MultiReader(strings.NewReader("6\r\nans"), iotest.ErrReader(lost)))})
	assert.ErrorIs(t, err, lost)
}

// TestChunksDoNotWait checks that Read returns the data that has arrived without waiting for the rest, and
// that it allocates nothing.
func TestChunksDoNotWait(t *testing.T) {
	p := make([]byte, 100)
	for _, rest := range []string{"", "\r", "\r\n", "\r\n3", "\r\n0\r\n", "\r\n0\r\nX: y\r\n"} {
		waits := iotest.ErrReader(errors.New("Read waits"))
		c := chunkReader{in: newResponse(io.MultiReader(strings.NewReader("6\r\nanswer"+rest), waits))}
		n, err := c.Read(p)
		assert.NilError(t, err, "%q", rest)
		assert.Equal(t, string(p[:n]), "answer")
	}
	c := chunkReader{in: newResponse(strings.NewReader(strings.Repeat("6;a=b\r\nanswer\r\n", 2000)))}
	assert.Equal(t, testing.AllocsPerRun(1000, func() { c.Read(p[:6]) }), 0.0)
}
