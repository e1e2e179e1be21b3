package dialect

import (
	"cmp"
	"strconv"
	"strings"
)

// otherMember reads a top-level member that is not part of an answer. In every dialect, a server may report an
// error in a member "error", or with a document that is itself an error.
func (p *baseParser) otherMember(name []byte) {
	p.others++
	switch string(name) {
	case "error", "Error":
		p.errorMember()
	case "base_resp": // MiniMax, https://platform.minimax.io/docs/api-reference/errorcode
		p.object(p.baseRespMember)
	case "object", "type":
		if v := p.w.Raw(); string(v) == `"error"` {
			p.isError = true
		}
	case "message", "Message", "detail", "errors", "msg", "error_message", "error_msg", "err", "errmsg", "err_msg", "errorMessage", "error_description", "exception", "fault":
		p.messageOf(name)
	case "status", "status_code", "success", "ok", "code":
		p.code(p.w.Raw(), string(name) == "code")
	case "error_code", "errcode":
		v := p.w.Raw()
		p.code(v, true)
		p.errorLike = p.errorLike || len(v) > 0 && '1' <= v[0] && v[0] <= '9' // 0 is success
	case "id", "created", "created_at", "model", "system_fingerprint", "service_tier", "request_id", "index", "provider":
	default:
		p.keepUnknown("", name, true)
	}
}

// messageOf reads the next value as the message of an error: a text, or a list of problems, as FastAPI sends it
// in "detail" (https://fastapi.tiangolo.com/tutorial/handling-errors/). The first message of a document is used.
// A document that has a member of an answer, too, is not an error.
func (p *baseParser) messageOf(name []byte) {
	first := string(name) == "message" || len(p.errorText) == 0
	switch p.w.Kind() {
	case '"', '[', '{':
	default:
		return
	}
	v := p.w.Raw()
	if len(v) <= 2 {
		return
	}
	p.errorLike = true
	if first {
		p.errorText = append(p.errorText[:0], faultMessage(v)...)
	}
}

// code judges the value of a status or a code. A document with a status that says that something failed is an
// error, unless it has a member of an answer. So is one with a code that is a word, such as "Throttling", if the
// word does not mean success.
func (p *baseParser) code(v []byte, words bool) {
	text := string(v)
	if isWord(v) {
		text = word(v)
	}
	n, err := strconv.Atoi(text)
	p.errorCode = cmp.Or(p.errorCode, statusOf(v))
	switch strings.ToLower(text) {
	case "error", "fail", "failed", "failure", "false":
		p.errorLike = true
	case "success", "succeeded", "ok":
	default:
		p.errorLike = p.errorLike || err == nil && (n < 0 || n >= 400) || err != nil && words && isWord(v)
	}
}

// baseRespMember reads a member of the status of MiniMax's API. 0 is success.
func (p *baseParser) baseRespMember(name []byte) {
	switch string(name) {
	case "status_code":
		if n, err := strconv.Atoi(string(p.w.Raw())); err == nil && n != 0 {
			p.isError = true
		}
	case "status_msg":
		p.errorText = p.w.Text(p.errorText[:0])
	}
}

// ownMessage reads the top-level member "message" of a dialect whose errors are documents with a text there.
func (p *baseParser) ownMessage() {
	p.isError = p.isError || p.w.Kind() == '"'
	p.errorText = p.w.Text(p.errorText[:0])
}
