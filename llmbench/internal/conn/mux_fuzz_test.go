package conn

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"gotest.tools/v3/assert"
)

// FuzzMux lets a server of HTTP/2 send any bytes after its settings. Each request must end when the connection ends, no
// more bytes of a body may come than were sent, and the places of all requests must be given back.
func FuzzMux(f *testing.F) {
	frames := func(add func(s *frameServer)) []byte {
		var all bytes.Buffer
		s := &frameServer{Framer: http2.NewFramer(&all, nil)}
		s.AllowIllegalWrites = true
		s.encoder = hpack.NewEncoder(&s.fields)
		add(s)
		return all.Bytes()
	}
	f.Add([]byte{})
	f.Add(frames(func(s *frameServer) {
		s.head(1, false, ":status", "103", "link", "a")
		s.head(1, false, ":status", "200", "content-type", "text/event-stream")
		s.WriteDataPadded(1, false, []byte("data: a\n\n"), make([]byte, 3))
		s.head(3, true, ":status", "200", "content-length", "0")
		s.WriteData(1, true, nil)
	}))
	f.Add(frames(func(s *frameServer) {
		s.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1}, http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1}, http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0})
		s.WritePing(false, [8]byte{1})
		s.WriteWindowUpdate(0, 100)
		s.WriteWindowUpdate(3, 1<<30)
		s.WriteRSTStream(3, http2.ErrCodeRefusedStream)
		s.WriteGoAway(1, http2.ErrCodeEnhanceYourCalm, []byte("calm"))
		s.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: s.encode(":status", "200")})
		s.WriteContinuation(1, true, s.encode("server", "s"))
	}))
	f.Fuzz(func(t *testing.T, sent []byte) {
		p, err := NewPool(Options{URL: "http://server", HTTP2: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go io.Copy(io.Discard, server)
			go func() {
				defer server.Close()
				if http2.NewFramer(server, nil).WriteSettings() == nil {
					server.Write(sent)
				}
			}()
			return client, nil
		}})
		assert.NilError(t, err)
		done := make(chan struct{})
		for range 2 {
			go func() {
				defer func() { done <- struct{}{} }()
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://server", bytes.NewReader(make([]byte, 100_000)))
				assert.Check(t, err)
				resp, err := p.Send(req, &Trace{Clock: NewClock(WallClock)})
				if err != nil {
					return
				}
				defer resp.Body.Close()
				n, _ := io.Copy(io.Discard, resp.Body)
				assert.Check(t, n <= int64(len(sent)))
			}()
		}
		<-done
		<-done
		for _, m := range p.muxes.all {
			assert.Check(t, m.active == 0 && len(m.streams) == 0, "%d requests, %d streams", m.active, len(m.streams))
		}
		p.CloseIdle()
		assert.Equal(t, p.Open(), 0)
	})
}

// FuzzRecords checks that records returns the bytes of its connection, and never bytes of two TLS records at once.
func FuzzRecords(f *testing.F) {
	f.Add([]byte("\x16\x03\x03\x00\x02ab\x17\x03\x03\x00\x00\x17\x03\x03\x00\x01c"), 3, 100)
	f.Fuzz(func(t *testing.T, sent []byte, piece, size int) {
		piece, size = 1+int(uint(piece)%64), 1+int(uint(size)%64)
		r := &records{Conn: pieces{from: bytes.NewReader(sent), size: piece}}
		var ends []int // of the records
		for at := 0; at+recordHead <= len(sent); {
			at += recordHead + int(sent[at+3])<<8 + int(sent[at+4])
			ends = append(ends, at)
		}
		var got []byte
		for p := make([]byte, size); ; {
			n, err := r.Read(p)
			before := len(got)
			got = append(got, p[:n]...)
			for _, end := range ends {
				assert.Assert(t, before >= end || len(got) <= end, "a read from %d to %d has bytes of two records; one ends at %d", before, len(got), end)
			}
			if err != nil {
				assert.Equal(t, err, io.EOF)
				break
			}
		}
		assert.DeepEqual(t, got, append([]byte(nil), sent...))
	})
}

// pieces is a connection whose reads return at most size bytes.
type pieces struct {
	net.Conn
	from io.Reader
	size int
}

func (p pieces) Read(b []byte) (int, error) { return p.from.Read(b[:min(len(b), p.size)]) }
