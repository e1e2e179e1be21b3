package dialect

import (
	"slices"
	"strings"
)

// The finish reasons of complete answers, by dialect. The servers of a dialect add reasons of their own, so that
// a list has more than the dialect's first documentation. Every other reason is unknown, or is a fault.
var (
	// openAIReasons are for the chat and the completions API. Sources:
	//
	//	stop, length, tool_calls, function_call    https://platform.openai.com/docs/api-reference/chat/object
	//	eos                                        https://docs.together.ai/reference/chat-completions-1
	//	eos_token, stop_sequence                   https://huggingface.github.io/text-generation-inference/ (FinishReason)
	//	model_length                               https://docs.mistral.ai/api/endpoint/chat
	//	model_context_window_exceeded              https://docs.z.ai/api-reference/llm/chat-completion
	openAIReasons = []string{"stop", "length", "tool_calls", "function_call", "eos", "eos_token", "stop_sequence", "model_length", "model_context_window_exceeded"}

	// responsesReasons are statuses, and the reasons why a response is incomplete
	// (https://platform.openai.com/docs/api-reference/responses/object).
	responsesReasons = []string{"completed", "max_output_tokens"}

	// anthropicReasons are stop reasons (https://platform.claude.com/docs/en/api/handling-stop-reasons). The
	// reason pause_turn is not among them: it says that the turn is to be continued.
	anthropicReasons = []string{"end_turn", "max_tokens", "stop_sequence", "tool_use", "model_context_window_exceeded"}

	// converseReasons are stop reasons (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html).
	converseReasons = []string{"end_turn", "max_tokens", "stop_sequence", "tool_use", "model_context_window_exceeded"}

	// geminiReasons are of https://ai.google.dev/api/generate-content#FinishReason.
	geminiReasons = []string{"STOP", "MAX_TOKENS"}

	// cohereReasons are of https://docs.cohere.com/reference/chat#response.body.finish_reason.
	cohereReasons = []string{"COMPLETE", "MAX_TOKENS", "STOP_SEQUENCE", "TOOL_CALL"}

	// ollamaReasons are of https://github.com/ollama/ollama/blob/main/docs/api.md. The last two belong to requests
	// without a prompt, which only load or unload the model.
	ollamaReasons = []string{"stop", "length", "load", "unload"}

	// llamaCPPReasons are the types of stops in https://github.com/ggml-org/llama.cpp/tree/master/tools/server,
	// which versions before 2025 sent as members stopped_eos, stopped_limit and stopped_word.
	llamaCPPReasons = []string{"eos", "limit", "word"}

	// tgiReasons are of https://huggingface.github.io/text-generation-inference/ (FinishReason). MindIE also
	// sends stop.
	tgiReasons = []string{"length", "eos_token", "stop_sequence", "stop"}

	// generateReasons are the types of finish reasons of SGLang
	// (https://docs.sglang.ai/basic_usage/native_api.html) and the finish reasons of LMDeploy.
	generateReasons = []string{"stop", "length"}
)

// faultyReasons are the documented finish reasons of answers that the server gave up, filtered or found
// malformed. Such an answer is shorter than the model's, and its text must not be used. The list is for all
// dialects, because gateways translate one API into another and keep the reason. Sources:
//
//	OpenAI          https://platform.openai.com/docs/api-reference/chat/object
//	vLLM            https://github.com/vllm-project/vllm/blob/main/vllm/v1/engine/__init__.py
//	SGLang          https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/managers/schedule_batch.py
//	TensorRT-LLM    https://nvidia.github.io/TensorRT-LLM/llm-api/reference.html (CompletionOutput)
//	DeepSeek        https://api-docs.deepseek.com/api/create-chat-completion
//	GLM             https://docs.z.ai/api-reference/llm/chat-completion
//	Anthropic       https://platform.claude.com/docs/en/test-and-evaluate/strengthen-guardrails/handle-streaming-refusals
//	Bedrock         https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
//	Gemini          https://ai.google.dev/api/generate-content#FinishReason
//	Cohere          https://docs.cohere.com/reference/chat#response.body.finish_reason, and earlier versions
var faultyReasons = []string{
	"content_filter", // OpenAI
	"abort", "error", // vLLM, SGLang
	"timeout", "cancelled", // TensorRT-LLM
	"insufficient_system_resource", // DeepSeek
	"sensitive", "network_error",   // GLM
	"failed",                                                                                   // OpenAI's responses: a status
	"refusal",                                                                                  // Anthropic
	"guardrail_intervened", "content_filtered", "malformed_model_output", "malformed_tool_use", // Bedrock
	"SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", // Gemini
	"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_OTHER", "NO_IMAGE", "IMAGE_RECITATION",
	"UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE", "MODEL_ARMOR",
	"ERROR", "TIMEOUT", "ERROR_TOXIC", "ERROR_LIMIT", "USER_CANCEL", // Cohere
}

// isPending reports whether a finish reason says that there is none yet. Some servers write null as a string,
// for example Alibaba's (https://www.alibabacloud.com/help/en/model-studio/qwen-api-reference).
func isPending(reason string) bool {
	return slices.ContainsFunc(pendingReasons, func(p string) bool { return strings.EqualFold(p, reason) })
}

var pendingReasons = []string{
	"null", "none", "nil", "undefined",
	"FINISH_REASON_UNSPECIFIED", // Gemini
	"not_finished",              // TensorRT-LLM
	"in_progress", "queued",     // OpenAI's responses
}

// finish records the finish reason. A faulty reason is a fault.
func (p *baseParser) finish(reason string) {
	p.d.Finish, p.d.UnknownFinish = reason, false
	p.finished, p.endsHere = true, true
	switch {
	case slices.Contains(faultyReasons, reason):
		if p.d.Fault == "" { // an error that came before says more
			p.d.Fault = "finish reason " + reason
		}
	case !slices.Contains(p.goodReasons, reason):
		p.d.UnknownFinish = true
	}
}

// finishReason reads the next value as the finish reason. The value null, and a value that means the same, say
// that a finish reason will follow later.
func (p *baseParser) finishReason() {
	if reason := p.reasonWord(); reason != "" {
		p.finish(reason)
	} else {
		p.finishPending = true
	}
}

// reasonWord reads the next value as a finish reason. It returns "" if there is none yet, and shortens a reason that
// is much longer than a word. A number or an object is a reason, too, but no dialect knows its meaning.
func (p *baseParser) reasonWord() string {
	v := p.w.Raw()
	switch {
	case len(v) > 100:
		return excerpt(v)
	case !isWord(v):
		switch string(v) {
		case "null", `""`, "false", "0", "{}", "[]":
			p.noReason = true
			return ""
		}
		return string(v)
	}
	if reason := word(v); !isPending(reason) {
		return reason
	}
	p.noReason = true
	return ""
}

// endWith records that the current document is the dialect's end marker, and has the finish reason, or "".
func (p *baseParser) endWith(reason string) {
	if p.markDone(); reason != "" {
		p.finish(reason)
	}
}

// markDone records that the current document is the dialect's end marker. If the document says that there is no finish
// reason, and no document before it had one, nothing shows that the text before it is complete. Some versions of servers have no
// member for the reason, and llama.cpp answers an empty prompt without text and with the reason "none".
func (p *baseParser) markDone() {
	p.d.UnknownFinish = p.d.UnknownFinish || p.noReason && !p.finished && (p.textSeen || p.d.generatedSince(p.start))
	p.d.Done, p.finished, p.endsHere, p.doneSeen = true, true, true, true
}
