package dialect

// toolCalls reads the tool calls of OpenAI's chat API. Ollama's tool calls have the same form, except that
// the arguments are an object instead of a string.
type toolCalls struct {
	p                  *baseParser
	name               []byte // buffer for the name of a function
	onCall, onFunction func(name []byte)
	eachCall           func()
}

func (c *toolCalls) init(p *baseParser) {
	c.p = p
	c.onCall, c.onFunction = c.callMember, c.functionMember
	c.eachCall = func() { p.w.Object(c.onCall) }
}

// array reads the next value, an array of calls.
func (c *toolCalls) array() { c.p.w.Array(c.eachCall) }

// function reads the next value, an object with a name and arguments.
func (c *toolCalls) function() { c.p.w.Object(c.onFunction) }

func (c *toolCalls) callMember(name []byte) {
	if string(name) == "function" {
		c.function()
		return
	}
	c.p.w.Raw()
}

func (c *toolCalls) functionMember(name []byte) {
	d, w := c.p.d, c.p.w
	switch string(name) {
	case "name":
		c.name = w.Text(c.name[:0])
		d.addToolName(c.name)
	case "arguments":
		d.ToolCall = w.TextOrRaw(d.ToolCall)
	default:
		w.Raw()
	}
}
