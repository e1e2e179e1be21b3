package judge

import (
	"fmt"
	"iter"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Counts has what a server counted in a pass. -1 means unknown.
type Counts struct {
	Requests, PromptTokens, OutputTokens int
	Complete                             bool // the server counts each request of the pass, and no earlier request
	Alone                                bool // the server has no other clients
}

// Unknown are the Counts of a server that reports none.
var Unknown = Counts{Requests: -1, PromptTokens: -1, OutputTokens: -1}

// A Difference says how a server's counts differ from the client's counts. The zero value means that they
// agree.
type Difference struct {
	Text  string
	Fewer bool // the server counted less than it answered, or may not have counted all yet
	Fault bool // the server or the client must be wrong
}

// Own has what the client counted in a pass.
type Own struct {
	sent                     int  // requests that were sent; a request that was sent again counts again
	texts, sentTexts         int  // texts to embed or rank, of successful requests and of all that were sent
	requests, prompt, output int  // successful requests, and their tokens
	once                     bool // each request succeeded and was sent once
	prompts                  bool // the server reported the prompt tokens of each successful request

	stated    int // successful requests for which the server reported the output tokens
	deltas    int // deltas of successful requests
	tokenizer int // output tokens of successful requests that the tokenizer counted, because the server reported none
	crowded   int // successful requests with more deltas than reported output tokens explain; see explainedDeltas

	// For the comparison of the server with the tokenizer: the number of successful requests whose output
	// tokens the server reported and whose text the tokenizer counted, the reported tokens, and the tokens
	// of the text.
	compared, comparedStated, comparedText int
}

// CountOwn counts the samples of a pass.
func CountOwn(samples iter.Seq[*sample.Sample]) Own {
	c := Own{once: true, prompts: true}
	for s := range samples {
		c.sent += 1 + s.Resent
		c.sentTexts += (1 + s.Resent) * s.Inputs
		if s.Outcome != sample.OK || s.Resent > 0 {
			c.once = false
		}
		if s.Outcome != sample.OK {
			continue
		}
		c.requests++
		c.texts += s.Inputs
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
			if s.Outputs-s.Blank > explainedDeltas(s.OutputTokens) {
				c.crowded++
			}
		}
	}
	return c
}

// explainedDeltas returns the maximum number of deltas, without deltas of reasoning, that an answer with
// the given number of reported output tokens should have. A delta has at least one token, and some servers
// do not count reasoning in the reported number. Two more deltas are allowed: one without its own token for
// a character that was held back, and one for the name of a tool.
func explainedDeltas(tokens int) int { return tokens + 2 }

// Contradiction checks whether answers came in more deltas than the reported output tokens allow. It
// returns a text about these answers, or "" if they are at most a tenth of all answers. The pass does not
// fail, because a proxy that cuts text into pieces smaller than tokens has the same effect.
func (own Own) Contradiction() string {
	if 10*own.crowded <= own.stated {
		return ""
	}
	return fmt.Sprintf("in %d of %d successful requests the answer came in more deltas than the server reports output tokens, but a delta has at least one token: the reported numbers are too small, or something cuts the text into pieces", own.crowded, own.stated)
}

// Understated returns an error if the texts of the compared answers clearly have more tokens than the
// server reported. A few more tokens are normal: splitting a text into tokens again may give more tokens
// than were generated, especially at its beginning and end. Fewer tokens are also normal, because some
// tokens have no text, such as hidden reasoning.
func (own Own) Understated() error {
	if explained := own.comparedStated + own.comparedStated/10 + 2*own.compared; own.comparedText <= explained {
		return nil
	}
	return fmt.Errorf("the server reports %d output tokens in %d answers, but the tokenizer counts %d in their text: the reported numbers are too small, or the tokenizer (LLMBENCH_TOKENIZER) is of another model", own.comparedStated, own.compared, own.comparedText)
}

// Record returns the counts of a pass in the form of the records.
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
// The client counts only successful requests. A server that counts everything that it answers therefore
// cannot have counted less. If it has, the counters belong to another process, or to only one of several
// processes. This proves nothing about the answers, unless the counts are Complete.
//
// If each request succeeded, was sent once and has usage, there are two reasons why a server may have
// counted more than the client: it served other clients, or it counts in another way than it reports in its
// answers. This proves nothing about the answers either, unless the server is Alone and its counts are
// Complete.
//
// Requests to embed or rank texts are counted in several ways; see ofTexts.
func (own Own) Compare(server Counts) Difference {
	server, most, late := own.ofTexts(server)
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
			text += ": these counters do not include all processes that answered, and neither do the server's metrics"
		}
		return Difference{text, true, server.Complete}
	}
	if server.Requests > most && !server.Alone {
		return Difference{Text: fmt.Sprintf("the server counted %d requests, and the client sent %d%s: cannot tell whether the counts agree, because the server also served other clients; its metrics include their requests", server.Requests, own.sent, own.withTexts())}
	}
	for _, c := range counts {
		if !c.all || c.server <= c.client {
			continue
		}
		if server.Alone {
			return Difference{Text: fmt.Sprintf("the server counted %d %s, and its answers report %d: it also counted requests from before the pass", c.server, c.what, c.client)}
		}
		text := fmt.Sprintf("the server counted %d %s, and its answers report %d", c.server, c.what, c.client)
		if server.Requests < 0 {
			text += ": cannot tell whether the counts agree, because the server may also have served other clients; its metrics then include their requests"
		}
		return Difference{Text: text}
	}
	return Difference{Fewer: late}
}

// ofTexts returns the counts of a server that can be compared, the largest number of requests that it can have counted
// for this client, and whether it may count more in a moment. If requests embed or rank texts, some servers count
// requests. vLLM counts texts and, where it embeds the query of a ranking, the queries. Others do not count such
// requests, or do not count their tokens. A count that fits none of these ways is unknown.
func (own Own) ofTexts(server Counts) (counted Counts, most int, late bool) {
	if own.texts == 0 || server.Complete {
		return server, own.sent, false
	}
	counted, most = server, own.sentTexts+own.sent
	switch n := server.Requests; {
	case n == 0, own.once && n > own.requests && n < own.texts+own.requests && n != own.texts:
		counted.Requests = -1
	case own.once && (n == own.texts || n == own.texts+own.requests):
		counted.Requests = own.requests
	}
	if server.PromptTokens == 0 {
		counted.PromptTokens = -1
	}
	return counted, most, counted.Requests != server.Requests && counted.Requests < 0 || counted.PromptTokens != server.PromptTokens
}

// withTexts returns what to say about the texts of the requests that the client sent.
func (own Own) withTexts() string {
	if own.sentTexts == 0 {
		return ""
	}
	return fmt.Sprintf(" with %d texts", own.sentTexts)
}
