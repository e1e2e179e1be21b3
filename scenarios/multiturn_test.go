package scenarios

import (
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// shapeOf describes sessions without their words.
func shapeOf(sessions []llmbench.Request) (all []string) {
	for _, r := range sessions {
		text := fmt.Sprintf("%dx%d", r.PromptTokens, r.MaxTokens)
		for _, t := range r.Then {
			if t.Every > 0 {
				text += " every"
			}
			text += fmt.Sprintf(" %v %dx%d", (t.Think + t.Every).Round(time.Millisecond), tokenizer.Words{}.Count(t.Prompt), t.MaxTokens)
		}
		all = append(all, text)
	}
	return all
}

// TestConversation checks the shape of sessions, which depends on the seed of the options and not on the seed of a pass.
func TestConversation(t *testing.T) {
	for _, tt := range []struct {
		o      Options
		name   string
		config map[string]string
		want   []string
	}{
		{Options{}, "turns-5x256-64x32", nil, []string{"256x32 0s 64x32 0s 64x32 0s 64x32 0s 64x32", "256x32 0s 64x32 0s 64x32 0s 64x32 0s 64x32"}},
		{Options{Turns: "1", Input: 9, Output: 4}, "turns-1x9-9x4", nil, []string{"9x4", "9x4"}},
		{Options{Turns: "2", Think: "1s", Input: 9}, "turns-2x9-9x32", map[string]string{"think": "1s"}, []string{"9x32 1s 9x32", "9x32 1s 9x32"}},
		{Options{Turns: "1..4", Think: "exponential(1s)", Output: 4}, "turns-256-64x4", map[string]string{"turns": "1..4", "think": "exponential(1s)"}, []string{"256x4 1.317s 64x4", "256x4 212ms 64x4 796ms 64x4"}},
		{Options{Turns: "2", Think: "every(2s)", Input: 9}, "turns-2x9-9x32", map[string]string{"think": "every(2s)"}, []string{"9x32 every 2s 9x32", "9x32 every 2s 9x32"}},
		{Options{Turns: "3", Dataset: "random?input=8..12&output=lognormal(20,0.5)"}, "turns-3", map[string]string{"dataset": "input=8..12&output=lognormal(20,0.5)"}, []string{"11x29 0s 10x19 0s 11x16", "11x14 0s 10x11 0s 8x25"}},
	} {
		tt.o.Seed = 1
		s := server{options: tt.o, counter: counter{tokens: tokenizer.Words{}}}
		name, with, c, err := s.conversation()
		assert.NilError(t, err)
		assert.Equal(t, name, tt.name)
		for key, value := range tt.config {
			assert.Equal(t, with.target.Config[key], value)
		}
		sessions, err := c.sessions(2, 5)
		assert.NilError(t, err)
		assert.DeepEqual(t, shapeOf(sessions), tt.want)
		again, err := c.sessions(2, 6)
		assert.NilError(t, err)
		assert.DeepEqual(t, shapeOf(again), tt.want)
		assert.Assert(t, again[0].Prompt != sessions[0].Prompt)
		more, err := c.sessions(9, 6) // a session is the same in a load with more of them
		assert.NilError(t, err)
		assert.DeepEqual(t, shapeOf(more)[:2], tt.want)
		short, err := c.short()
		assert.NilError(t, err)
		assert.Equal(t, len(short.Then), 1)
		assert.Equal(t, short.Then[0].Think, time.Duration(0))
	}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Turns: "0"}, `options: Turns "0": want a whole number from 1 to 1000, or one of LOW..HIGH`},
		{Options{Think: "every(soon)"}, `options: Think "every(soon)": want a time like 500ms`},
		{Options{Think: "every(1s"}, `or every(…) around one of these, for times from send to send`},
		{Options{Think: "soon"}, `options: Think "soon": want a time like 500ms from 0s to 24h0m0s, in whole microseconds, or one of`},
	} {
		assert.ErrorContains(t, scenario("MultiTurn").Check(tt.o), tt.want)
	}
}

// TestThinkIsNoLatency checks, in virtual time, that a user sends the next turn when the drawn time to think is over, and
// that no latency contains that time.
func TestThinkIsNoLatency(t *testing.T) {
	virtual(t, mockserver.Config{}, func(t *testing.T, target llmbench.Target) {
		s := server{options: Options{Seed: 1, Turns: "3", Think: "exponential(10s)", Input: 9, Output: 4}, target: target, counter: counter{tokens: tokenizer.Words{}}}
		_, _, c, err := s.conversation()
		assert.NilError(t, err)
		sessions, err := c.sessions(4, 5)
		assert.NilError(t, err)
		result, err := llmbench.Pass(t.Context(), "", target, llmbench.Load{Requests: sessions, Concurrency: 4})
		assert.NilError(t, err)
		defer result.Close()
		ends := map[int]time.Duration{}
		for turn := range result.All() {
			assert.Equal(t, turn.Outcome, sample.OK, "%v", turn.Err)
			e2e, _ := turn.E2E()
			assert.Assert(t, e2e < time.Second, "turn %d: %v", turn.Turn, e2e)
			if turn.Turn > 0 {
				think := sessions[turn.Request].Then[turn.Turn-1].Think
				assert.Equal(t, (turn.Start - ends[turn.Request] - think).Round(time.Millisecond), time.Duration(0), "turn %d after a think time of %v", turn.Turn, think)
			}
			ends[turn.Request] = turn.End
		}
	})
}
