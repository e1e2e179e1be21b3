package dialect

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// BenchmarkEmbeddings parses an answer of 32 vectors of 1,024 dimensions, as numbers and in base64. The unit
// x-json is the time that encoding/json takes to decode the same body / the parser's time. A worker parses an
// answer before it sends its next request, so that the time is the client's share of a closed loop.
func BenchmarkEmbeddings(b *testing.B) {
	const vectors, dimensions = 32, 1024
	for _, d := range []Embeddings{{}, {Base64: true}} {
		b.Run("dialect="+d.Name(), func(b *testing.B) {
			body := embeddingsBody(d.Base64, vectors, dimensions)
			p, delta := d.NewParser(), Delta{}
			p.(ItemsParser).Expect(vectors)
			var own, others time.Duration
			for b.Loop() {
				begin := time.Now()
				p.Reset()
				assert.NilError(b, p.Body(body, &delta))
				middle := time.Now()
				var answer struct {
					Data []struct {
						Index     int
						Embedding any
					}
				}
				assert.NilError(b, json.Unmarshal(body, &answer))
				own, others = own+middle.Sub(begin), others+time.Since(middle)
			}
			b.ReportMetric(float64(own.Nanoseconds())/float64(b.N*vectors*dimensions), "ns/element")
			b.ReportMetric(float64(others)/float64(own), "x-json")
		})
	}
}

func embeddingsBody(encoded bool, vectors, dimensions int) []byte {
	type item struct {
		Index     int `json:"index"`
		Embedding any `json:"embedding"`
	}
	r := rand.New(rand.NewPCG(1, 2))
	var data []item
	for i := range vectors {
		var raw []byte
		v := make([]float32, dimensions)
		for k := range v {
			v[k] = float32(r.NormFloat64()) / 32
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v[k]))
		}
		if encoded {
			data = append(data, item{i, base64.StdEncoding.EncodeToString(raw)})
		} else {
			data = append(data, item{i, v})
		}
	}
	body, err := json.Marshal(map[string]any{"object": "list", "data": data})
	if err != nil {
		panic(err)
	}
	return body
}
