package dialect

// toolCalls reads the tool calls of OpenAI's chat API. Ollama's tool calls have the same form, except that
// the arguments are an object instead of a string.
type toolCalls struct{ p *baseParser }

// array reads the next value, an array of calls.
func (c toolCalls) array() { c.p.w.Array(c.call) }

func (c toolCalls) call() { c.p.w.Object(c.callMember) }

func (c toolCalls) callMember(name []byte) {
	if string(name) == "function" {
		c.function()
	}
}

// function reads the next value, an object with a name and arguments.
func (c toolCalls) function() { c.p.w.Object(c.functionMember) }

func (c toolCalls) functionMember(name []byte) {
	switch string(name) {
	case "name":
		c.p.toolName()
	case "arguments":
		c.p.d.ToolCall = c.p.w.TextOrRaw(c.p.d.ToolCall)
	}
}
