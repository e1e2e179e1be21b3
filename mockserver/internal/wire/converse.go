package wire

import "github.com/seed-2b9cec6d/llmbench/mockserver/shape"

// A converseEncoder is the encoder of one answer of the Converse API. Its parts are the content blocks.
type converseEncoder struct{ chat }

// Opening renders the beginning of the message, and of a call. Other blocks have no event at
// their start.
func (c *converseEncoder) Opening() {
	c.Document("messageStart", `{"p":"abcd","role":"assistant"}`)
	if c.reason == 0 && c.calls() {
		c.openCall()
	}
}

func (c *converseEncoder) openCall() {
	c.Begin("contentBlockStart")
	c.AddInt(`{"contentBlockIndex":`, c.index(callPart))
	c.Add(`,"p":"abcdef","start":{"toolUse":{"name":`, c.quotedCall())
	c.AddInt(`,"toolUseId":"tooluse_`, int(c.Ordinal))
	c.Add(`"}}}`)
	c.End()
}

func (c *converseEncoder) Tokens(from, to int) {
	for from < to {
		end := to
		if from < c.reason {
			end = min(to, c.reason)
		} else if from == c.reason && from > 0 && c.calls() {
			c.openCall()
		}
		c.delta(from, end)
		if end == c.reason || end == c.tokenCount() {
			c.close(from)
		}
		from = end
	}
}

// delta renders the event of tokens that belong to one block. The padding hides the length of the
// text from who reads along.
func (c *converseEncoder) delta(from, to int) {
	p := c.partAt(from)
	c.BeginTokens("contentBlockDelta")
	c.AddInt(`{"contentBlockIndex":`, c.index(p))
	c.Add(`,"delta":{`, [...]string{`"reasoningContent":{"text":"`, `"text":"`, `"toolUse":{"input":"`}[p])
	c.partText(from, to)
	c.Add([...]string{`"}`, `"`, `"}`}[p], `},"p":"`, "abcdefghijklmnop"[:1+from%16], `"}`)
	c.End()
}

// close renders the events after the last token of the block that contains token i.
func (c *converseEncoder) close(i int) {
	if i < c.reason {
		c.Document("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"bW9jaw=="}},"p":"abc"}`)
	}
	c.Begin("contentBlockStop")
	c.AddInt(`{"contentBlockIndex":`, c.index(c.partAt(i)))
	c.Add(`,"p":"ab"}`)
	c.End()
}

func (c *converseEncoder) Last(from, to int) {
	c.Tokens(from, to)
	c.Document("messageStop", `{"p":"abc","stopReason":"`, c.stopReason(), `"}`)
	c.Begin("metadata")
	c.AddInt(`{"metrics":{"latencyMs":`, int(c.latency().Milliseconds()))
	c.Add(`},"p":"abcd"`)
	if c.Shape.Usage != shape.UsageNever {
		c.usage()
	}
	c.Add(`}`)
	c.End()
}

func (c *converseEncoder) Whole() {
	c.Begin("")
	c.AddInt(`{"metrics":{"latencyMs":`, int(c.latency().Milliseconds()))
	c.Add(`},"output":{"message":{"content":`)
	addList(&c.Answer, c.parts(), c.wholeBlock)
	c.Add(`,"role":"assistant"}},"stopReason":"`, c.stopReason(), `"`)
	c.usage()
	c.Add(`}`)
	c.End()
}

// wholeBlock renders a block of a whole answer.
func (c *converseEncoder) wholeBlock(_ int, b part) {
	switch b {
	case reasoningPart:
		c.textBetween(`{"reasoningContent":{"reasoningText":{"signature":"bW9jaw==","text":"`, 0, c.reason, `"}}}`)
	case textPart:
		c.textBetween(`{"text":"`, c.reason, c.Request.Output, `"}`)
	case callPart:
		c.Add(`{"toolUse":{"input":`)
		c.callObject()
		c.Add(`,"name":`, c.quotedCall())
		c.AddInt(`,"toolUseId":"tooluse_`, int(c.Ordinal))
		c.Add(`"}}`)
	}
}

// usage renders the field with the token counts. The input tokens do not include the tokens from
// the cache.
func (c *converseEncoder) usage() {
	cached := c.Cached()
	c.AddInt(`,"usage":{"cacheReadInputTokens":`, cached)
	c.AddInt(`,"cacheWriteInputTokens":0,"inputTokens":`, c.Request.Prompt-cached)
	c.AddInt(`,"outputTokens":`, c.Request.Output)
	c.AddInt(`,"totalTokens":`, c.Request.Prompt+c.Request.Output)
	c.Add(`}`)
}

func (c *converseEncoder) stopReason() string {
	return c.finish("tool_use", "stop_sequence", "end_turn", "max_tokens")
}

func (c *converseEncoder) Failed(e *Error, named bool) { awsFailed(c.Framer, e, named) }
