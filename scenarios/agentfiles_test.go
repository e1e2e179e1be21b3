package scenarios

import (
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// TestSessionFilesInTime replays a file of each format in virtual time. Each turn is sent exactly when those that it waits for have ended and its
// pause is over, and its answer has the length of the file.
func TestSessionFilesInTime(t *testing.T) {
	files, err := filepath.Glob("../benchdata/testdata/sessions/*")
	assert.NilError(t, err)
	assert.Assert(t, len(files) >= 14)
	for _, file := range files {
		all, err := benchdata.Sessions{Path: file, Seed: 1, Output: 5}.Load(0)
		assert.NilError(t, err)
		turns := 0
		for _, r := range all.Requests {
			turns += 1 + len(r.Then)
		}
		virtual(t, mockserver.Config{Engine: &engine.Profile{Step: 1000, PrefillPerToken: 100, MaxBatch: 16}}, func(t *testing.T, target llmbench.Target) {
			result, err := llmbench.Pass(t.Context(), "agents", target, llmbench.Load{Requests: all.Requests, Concurrency: len(all.Requests), ClientBound: llmbench.BoundReported})
			assert.NilError(t, err)
			defer result.Close()
			type place struct{ request, turn int }
			sent := map[place]*sample.Sample{}
			for s := range result.All() {
				assert.Equal(t, s.Outcome, sample.OK, "%s: %v", file, s.Err)
				one := *s
				sent[place{s.Request, s.Turn}] = &one
			}
			assert.Equal(t, len(sent), turns, file)
			for at, s := range sent {
				r := &all.Requests[at.request]
				if at.turn == 0 {
					assert.Equal(t, s.OutputTokens, r.MaxTokens, file)
					continue
				}
				turn := r.Then[at.turn-1]
				due := sent[place{at.request, 0}].Start // of the session
				for k, before := range turn.After {
					if ended := sent[place{at.request, before}].End; k == 0 || ended > due {
						due = ended
					}
				}
				switch {
				case turn.Every > 0:
					due = max(due, sent[place{at.request, turn.After[0]}].Start+turn.Every)
				default:
					due += turn.Think
				}
				assert.Equal(t, s.Start, due, "%s: session %d, turn %d", file, at.request, at.turn)
				assert.Equal(t, s.OutputTokens, turn.MaxTokens, file)
			}
		})
	}
}
