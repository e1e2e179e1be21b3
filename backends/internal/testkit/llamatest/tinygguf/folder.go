package tinygguf

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// WriteFolder writes the model that o describes as a folder, the form in which engines such as vLLM and SGLang
// load models: config.json, the tokenizer and model.safetensors. The weights are the same as in [Write], and o.Type
// has no effect, because they are written as float32. The folder is created if it does not exist. After an error
// it may be incomplete.
func WriteFolder(dir string, o Options) error {
	o, v, r, err := start(o)
	if err != nil {
		return err
	}
	m := &model{Options: o, rand: r, vocabulary: v}
	var tokenizer bytes.Buffer
	err = errors.Join(os.MkdirAll(dir, 0o755), TokenizerJSON(&tokenizer, o))
	for name, content := range map[string]any{
		"config.json": object{
			"architectures": []string{"LlamaForCausalLM"}, "model_type": "llama", "hidden_act": "silu", "torch_dtype": "float32",
			"vocab_size": o.Vocab, "hidden_size": o.Dim, "intermediate_size": o.FF, "num_hidden_layers": o.Layers,
			"num_attention_heads": o.Heads, "num_key_value_heads": o.KVHeads, "head_dim": o.Dim / o.Heads,
			"max_position_embeddings": o.Context, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
			"tie_word_embeddings": false, "attention_bias": false, "mlp_bias": false,
			"bos_token_id": v.id(endOfText), "eos_token_id": v.id(turnEnd), "pad_token_id": v.id(endOfText),
		},
		"generation_config.json": object{"bos_token_id": v.id(endOfText), "eos_token_id": v.id(turnEnd), "pad_token_id": v.id(endOfText)},
		"tokenizer_config.json": object{
			"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": turnEnd, "pad_token": endOfText,
			"model_max_length": o.Context, "clean_up_tokenization_spaces": false, "chat_template": chatML,
		},
		"tokenizer.json": json.RawMessage(tokenizer.Bytes()),
	} {
		if err == nil {
			err = writeJSON(filepath.Join(dir, name), content)
		}
	}
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(writeSafetensors(w, m.tensors()), w.Flush(), f.Close())
}

func writeJSON(path string, content any) error {
	b, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}

// inFolder translates the names of tensors in a GGUF file to the names in a folder
// (https://github.com/ggml-org/llama.cpp/blob/master/gguf-py/gguf/tensor_mapping.py).
var inFolder = strings.NewReplacer(
	"token_embd.", "model.embed_tokens.", "output_norm.", "model.norm.", "blk.", "model.layers.",
	"attn_norm.", "input_layernorm.", "attn_q.", "self_attn.q_proj.", "attn_k.", "self_attn.k_proj.", "attn_v.", "self_attn.v_proj.",
	"attn_output.", "self_attn.o_proj.", "output.", "lm_head.",
	"ffn_norm.", "post_attention_layernorm.", "ffn_gate.", "mlp.gate_proj.", "ffn_up.", "mlp.up_proj.", "ffn_down.", "mlp.down_proj.")

// writeSafetensors writes tensors as float32 (https://github.com/huggingface/safetensors#format): the length of
// the header, the header as JSON, and the values.
func writeSafetensors(w io.Writer, tensors []tensor) error {
	header, end := object{"__metadata__": object{"format": "pt"}}, 0
	for _, t := range tensors {
		begin := end
		t.typ = F32
		end += t.size()
		shape := slices.Clone(t.dims)
		slices.Reverse(shape) // GGUF has the contiguous dimension first
		header[inFolder.Replace(t.name)] = object{"dtype": "F32", "shape": shape, "data_offsets": []int{begin, end}}
	}
	b, err := json.Marshal(header)
	if err != nil {
		return err
	}
	if err = binary.Write(w, binary.LittleEndian, uint64(len(b))); err == nil {
		_, err = w.Write(b)
	}
	for _, t := range tensors {
		if err == nil {
			err = binary.Write(w, binary.LittleEndian, t.weights())
		}
	}
	if err != nil {
		return fmt.Errorf("tinygguf: model.safetensors: %w", err)
	}
	return nil
}
