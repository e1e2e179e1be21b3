package judge

import (
	"fmt"
	"iter"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Counts are what a server counted in a pass. A number that is unknown is -1.
type Counts struct {
	Requests, PromptTokens, OutputTokens int
	Complete                             bool // the server counts each request of the pass, and none before
	Alone                                bool // the server has no other clients
}

// Unknown are the counts of a server that states none.
var Unknown = Counts{Requests: -1, PromptTokens: -1, OutputTokens: -1}

// A Difference says how a server's counts differ from the client's counts. Its zero value
// says that they agree.
type Difference struct {
	Text  string
	Fewer bool // the server counted less than it answered
	Fault bool // one of the two sides must be wrong
}

// Own is what the client counted in a pass.
type Own struct {
	sent                     int  // requests, those that were sent again counted again
	requests, prompt, output int  // successful requests and their tokens
	once                     bool // each request succeeded and was sent once
	prompts                  bool // the server stated the prompt tokens of each successful request

	stated    int // successful requests of which the server stated the output tokens
	deltas    int // of successful requests
	tokenizer int // output tokens of successful requests that the tokenizer counted, because the server stated none
	crowded   int // successful requests with more deltas than stated output tokens; see explainedDeltas

	// Of successful requests whose output tokens the server stated and whose text the tokenizer counted:
	// their number, the stated tokens, and the tokens of the text.
	compared, comparedStated, comparedText int
}

// CountOwn counts the samples of a pass.
func CountOwn(samples iter.Seq[*sample.Sample]) Own {
	c := Own{once: true, prompts: true}
	for s := range samples {
		c.sent += 1 + s.Resent
		if s.Outcome != sample.OK || s.Resent > 0 {
			c.once = false
		}
		if s.Outcome != sample.OK {
			continue
		}
		c.requests++
		c.prompts = c.prompts && s.PromptTokens > 0
		c.prompt += s.PromptTokens
		c.deltas += s.Deltas
		switch s.TokenSource {
		case sample.FromTokenizer:
			c.tokenizer += s.OutputTokens
		case sample.FromUsage:
			c.stated++
			c.output += s.OutputTokens
			if s.TextTokens > 0 {
				c.compared++
				c.comparedStated += s.OutputTokens
				c.comparedText += s.TextTokens
			}
			if s.Outputs > explainedDeltas(s.OutputTokens) {
				c.crowded++
			}
		}
	}
	return c
}

// explainedDeltas is the largest number of deltas, without deltas of reasoning, that an answer with that many
// stated output tokens should have. A delta has one token or more, and a stated number does not count
// reasoning on some servers. Two deltas more are explained: one without a token of its own for a character that
// was held back, and one for the name of a tool.
func explainedDeltas(tokens int) int { return tokens + 2 }

// Contradiction says in how many answers the client received more deltas than the output tokens that the
// server states allow. It returns "" if these are at most a tenth of the answers. The pass does not fail,
// because a proxy that cuts text into pieces smaller than tokens has the same effect.
func (own Own) Contradiction() string {
	if 10*own.crowded <= own.stated {
		return ""
	}
	return fmt.Sprintf("in %d of %d successful requests the answer came in more deltas than the output tokens that the server states, and a delta has at least one token: the stated numbers are too small, or something cuts the text into pieces", own.crowded, own.stated)
}

// Understated returns an error if the texts of the compared answers have clearly more tokens than the
// server states. A text that is split into tokens again can have a few more than were generated, most of all
// where it begins and ends. Fewer are explained by tokens without text, such as hidden reasoning.
func (own Own) Understated() error {
	if explained := own.comparedStated + own.comparedStated/10 + 2*own.compared; own.comparedText <= explained {
		return nil
	}
	return fmt.Errorf("the server states %d output tokens in %d answers, and the tokenizer counts %d in their text: the stated numbers are too small, or the tokenizer (LLMBENCH_TOKENIZER) is of another model", own.comparedStated, own.compared, own.comparedText)
}

// Record returns the row of a pass in the records.
func (own Own) Record(pass int, server Counts) records.Counts {
	return records.Counts{
		Pass: pass, Requests: own.requests, Deltas: own.deltas,
		StatedRequests: own.stated, StatedPrompt: own.prompt, StatedOutput: own.output, Tokenizer: own.tokenizer,
		ComparedRequests: own.compared, ComparedStated: own.comparedStated, ComparedText: own.comparedText,
		ServerRequests: server.Requests, ServerPrompt: server.PromptTokens, ServerOutput: server.OutputTokens,
	}
}

// Compare returns how a server's counts differ from the client's counts.
//
// The client counts successful requests only, so that a server which counts everything that it
// answers cannot have counted less. If it has, the counters belong to another process, or to
// one of several. That proves nothing about the answers, unless the counts are Complete.
//
// Once each request succeeded, was sent once and has usage, a server can have counted more than the
// client only if it served somebody else, or counts otherwise than its answers state. That proves
// nothing about the answers either, unless the server is Alone and its counts are Complete.
func (own Own) Compare(server Counts) Difference {
	counts := []struct {
		what           string
		server, client int
		all            bool // the server cannot have counted more for this client
	}{
		{"requests", server.Requests, own.requests, own.once},
		{"prompt tokens", server.PromptTokens, own.prompt, own.once && own.prompts},
		{"output tokens", server.OutputTokens, own.output, own.once && own.stated == own.requests},
	}
	for _, c := range counts {
		if server.Complete && server.Alone && c.all && c.server > c.client {
			return Difference{fmt.Sprintf("the server counted %d %s, and the client %d", c.server, c.what, c.client), false, true}
		}
	}
	for _, c := range counts {
		if c.server < 0 || c.server >= c.client {
			continue
		}
		text := fmt.Sprintf("the server counted %d %s, and the client %d of successful requests", c.server, c.what, c.client)
		if !server.Complete {
			text += ": these are not the counters of all processes that answered, and the server's figures are those of a part"
		}
		return Difference{text, true, server.Complete}
	}
	if server.Requests > own.sent && !server.Alone {
		return Difference{Text: fmt.Sprintf("the server counted %d requests, and the client sent %d: cannot tell whether the counts agree, because the server also served others; its figures include these", server.Requests, own.sent)}
	}
	for _, c := range counts {
		if !c.all || c.server <= c.client {
			continue
		}
		if server.Alone {
			return Difference{Text: fmt.Sprintf("the server counted %d %s, and its answers state %d: it also counted requests of before the pass", c.server, c.what, c.client)}
		}
		text := fmt.Sprintf("the server counted %d %s, and its answers state %d", c.server, c.what, c.client)
		if server.Requests < 0 {
			text += ": cannot tell whether the counts agree, because the server may also have served others; its figures then include these"
		}
		return Difference{Text: text}
	}
	return Difference{}
}
