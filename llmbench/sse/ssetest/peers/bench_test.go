package peers

import (
	"bufio"
	"io"
	"testing"
)

// vllmChunks returns the events of an answer with 1,000 chunks in the form of vLLM. It omits the final
// [DONE], because go-openai does not return it.
func vllmChunks() [][]byte {
	const head = `data: {"id":"chatcmpl-7d0f9b6a4be64a2a8f1d","object":"chat.completion.chunk","created":1732180000,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{"index":0,"delta":{`
	const tail = `,"logprobs":null,"finish_reason":null}]}` + "\n\n"
	words := []string{" the", " server", " tokens", ",", " of", " measure", "\\n", " é", " 12", "."}
	chunks := [][]byte{[]byte(head + `"role":"assistant","content":""}` + tail)}
	for i := range 998 {
		chunks = append(chunks, []byte(head+`"content":"`+words[i%len(words)]+`"}`+tail))
	}
	return append(chunks, []byte(head+`"content":""},"logprobs":null,"finish_reason":"length","stop_reason":null}]}`+"\n\n"))
}

// chunkReader returns one chunk per Read, like the body of a server that flushes after
// each chunk.
type chunkReader struct {
	chunks [][]byte
	next   int
	off    int
}

func (r *chunkReader) Read(p []byte) (int, error) {
	if r.next == len(r.chunks) {
		return 0, io.EOF
	}
	n := copy(p, r.chunks[r.next][r.off:])
	if r.off += n; r.off == len(r.chunks[r.next]) {
		r.next, r.off = r.next+1, 0
	}
	return n, nil
}

// BenchmarkFraming measures the time that each parser needs to split a stream into events,
// without parsing JSON. An op is the whole stream, so allocs/op covers 1,000 events.
func BenchmarkFraming(b *testing.B) {
	chunks := vllmChunks()
	size := 0
	for _, c := range chunks {
		size += len(c)
	}
	run := func(name string, drain func(io.Reader) (int, error)) {
		b.Run("parser="+name+"/chunks=1000", func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				n, err := drain(&chunkReader{chunks: chunks})
				if n != len(chunks) || err != nil && err != io.EOF {
					b.Fatalf("%d events, %v; want %d", n, err, len(chunks))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(chunks)), "ns/event")
		})
	}
	run("none-bufio.ReadSlice", drainLines)
	for _, p := range peers {
		run(p.short, p.drain)
	}
}

// TestDrain checks that the loops of the benchmark receive all events.
func TestDrain(t *testing.T) {
	chunks := vllmChunks()
	for _, p := range append(peers, peer{name: "bufio", drain: drainLines}) {
		n, err := p.drain(&chunkReader{chunks: chunks})
		if n != len(chunks) || err != nil && err != io.EOF {
			t.Errorf("%s: %d events, %v; want %d", p.name, n, err, len(chunks))
		}
	}
	if n := len(chunks[5]); n < 200 || n > 300 {
		t.Errorf("a chunk has %d bytes; want about 250, as in vLLM", n)
	}
}

// drainLines finds line ends and counts blank lines. Its time is a lower bound for the benchmark.
func drainLines(r io.Reader) (n int, err error) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return n, err
		}
		if len(line) == 1 {
			n++
		}
	}
}
