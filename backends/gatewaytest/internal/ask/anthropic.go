package ask

// writeAnthropic writes a request of Anthropic's Messages API (https://platform.claude.com/docs/en/api/messages).
func writeAnthropic(r Request) object {
	var messages []any
	for _, turns := range r.groups() {
		var blocks []any
		for _, t := range turns {
			switch t.Kind {
			case Text:
				blocks = append(blocks, object{"type": "text", "text": t.Text})
			case Image:
				blocks = append(blocks, object{"type": "image", "source": object{"type": "base64", "media_type": t.Name, "data": t.Text}})
			case Call:
				blocks = append(blocks, object{"type": "tool_use", "id": t.ID, "name": t.Name, "input": raw(t.Text)})
			case Result:
				blocks = append(blocks, object{"type": "tool_result", "tool_use_id": t.ID, "content": t.Text})
			}
		}
		messages = append(messages, object{"role": turns[0].Role, "content": blocks})
	}
	var tools []any
	for _, t := range r.Tools {
		tools = append(tools, t.function("input_schema"))
	}
	choice := r.choice(object{"type": "any"}, object{"type": "tool", "name": r.Choice})
	o := object{"model": r.Model, "messages": messages, "max_tokens": r.MaxTokens, "temperature": r.Temperature, "stream": r.Stream}
	return set(o, object{"system": r.System, "tools": tools, "tool_choice": choice, "stop_sequences": r.Stop})
}

// writeInvoke writes a request of Bedrock's form of the API
// (https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html).
func writeInvoke(r Request) object {
	o := writeAnthropic(r)
	delete(o, "model")
	delete(o, "stream")
	o["anthropic_version"] = "bedrock-2023-05-31"
	return o
}

func readAnthropic(v any) Request {
	r := Request{System: leaves(at(v, "system")), MaxTokens: int(number(at(v, "max_tokens"))), Temperature: number(at(v, "temperature")), Stop: stops(at(v, "stop_sequences"))}
	r.Stream, _ = at(v, "stream").(bool)
	for _, m := range list(at(v, "messages")) {
		role, content := str(at(m, "role")), at(m, "content")
		r.addText(role, str(content))
		for _, b := range list(content) {
			switch str(at(b, "type")) {
			case "text":
				r.addText(role, str(at(b, "text")))
			case "image":
				r.Turns = append(r.Turns, Turn{Role: role, Kind: Image, Name: str(in(b, "source", "media_type")), Text: str(in(b, "source", "data"))})
			case "tool_use":
				r.Turns = append(r.Turns, Turn{Role: role, Kind: Call, ID: str(at(b, "id")), Name: str(at(b, "name")), Text: text(at(b, "input"))})
			case "tool_result":
				r.Turns = append(r.Turns, Turn{Role: role, Kind: Result, ID: str(at(b, "tool_use_id")), Text: leaves(at(b, "content"))})
			}
		}
	}
	for _, t := range list(at(v, "tools")) {
		r.addTool(t, "input_schema")
	}
	switch str(in(v, "tool_choice", "type")) {
	case "any":
		r.Choice = AnyTool
	case "tool":
		r.Choice = str(in(v, "tool_choice", "name"))
	}
	return r
}

// writeConverse writes a request of Bedrock's Converse API
// (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html).
func writeConverse(r Request) object {
	var messages []any
	for _, turns := range r.groups() {
		var blocks []any
		for _, t := range turns {
			switch t.Kind {
			case Text:
				blocks = append(blocks, object{"text": t.Text})
			case Image:
				blocks = append(blocks, object{"image": object{"format": t.Name[len("image/"):], "source": object{"bytes": t.Text}}})
			case Call:
				blocks = append(blocks, object{"toolUse": object{"toolUseId": t.ID, "name": t.Name, "input": raw(t.Text)}})
			case Result:
				blocks = append(blocks, object{"toolResult": object{"toolUseId": t.ID, "content": []any{object{"text": t.Text}}}})
			}
		}
		messages = append(messages, object{"role": turns[0].Role, "content": blocks})
	}
	o := object{"messages": messages, "inferenceConfig": set(object{"maxTokens": r.MaxTokens, "temperature": r.Temperature}, object{"stopSequences": r.Stop})}
	if r.System != "" {
		o["system"] = []any{object{"text": r.System}}
	}
	var tools []any
	for _, t := range r.Tools {
		tools = append(tools, object{"toolSpec": object{"name": t.Name, "description": t.Description, "inputSchema": object{"json": raw(t.Schema)}}})
	}
	choice := r.choice(object{"any": object{}}, object{"tool": object{"name": r.Choice}})
	if tools != nil {
		o["toolConfig"] = set(object{"tools": tools}, object{"toolChoice": choice})
	}
	return o
}

func readConverse(v any) Request {
	config := at(v, "inferenceConfig")
	r := Request{System: leaves(at(v, "system")), MaxTokens: int(number(at(config, "maxTokens"))), Temperature: number(at(config, "temperature")), Stop: stops(at(config, "stopSequences"))}
	for _, m := range list(at(v, "messages")) {
		role := str(at(m, "role"))
		for _, b := range list(at(m, "content")) {
			r.addText(role, str(at(b, "text")))
			if image := at(b, "image"); image != nil {
				r.Turns = append(r.Turns, Turn{Role: role, Kind: Image, Name: "image/" + str(at(image, "format")), Text: str(in(image, "source", "bytes"))})
			}
			if call := at(b, "toolUse"); call != nil {
				r.Turns = append(r.Turns, Turn{Role: role, Kind: Call, ID: str(at(call, "toolUseId")), Name: str(at(call, "name")), Text: text(at(call, "input"))})
			}
			if result := at(b, "toolResult"); result != nil {
				r.Turns = append(r.Turns, Turn{Role: role, Kind: Result, ID: str(at(result, "toolUseId")), Text: leaves(at(result, "content"))})
			}
		}
	}
	for _, t := range list(in(v, "toolConfig", "tools")) {
		spec := at(t, "toolSpec")
		r.Tools = append(r.Tools, Tool{str(at(spec, "name")), str(at(spec, "description")), text(in(spec, "inputSchema", "json"))})
	}
	choice := in(v, "toolConfig", "toolChoice")
	r.Choice = str(in(choice, "tool", "name"))
	if at(choice, "any") != nil {
		r.Choice = AnyTool
	}
	return r
}
