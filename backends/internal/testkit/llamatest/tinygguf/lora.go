package tinygguf

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// LoRARank is the rank of the adapter that [WriteLoRA] writes.
const LoRARank = 8

// WriteLoRA writes a LoRA adapter of the model that o describes as a folder, the form in which engines such as vLLM load
// adapters (https://huggingface.co/docs/peft/developer_guides/checkpoint): adapter_config.json and
// adapter_model.safetensors. It changes the queries and the values of each layer by random weights, so much that answers
// differ. The folder is created if it does not exist. After an error it may be incomplete.
func WriteLoRA(dir string, o Options) error {
	o, v, r, err := start(o)
	if err != nil {
		return err
	}
	m := &model{Options: o, rand: r, vocabulary: v}
	err = errors.Join(os.MkdirAll(dir, 0o755), writeJSON(filepath.Join(dir, "adapter_config.json"), object{
		"peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": o.Name, "r": LoRARank, "lora_alpha": 4 * LoRARank, "lora_dropout": 0.0,
		"bias": "none", "target_modules": []string{"q_proj", "v_proj"},
	}))
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "adapter_model.safetensors"))
	if err != nil {
		return err
	}
	kv := m.KVHeads * (m.Dim / m.Heads)
	var ts []tensor
	for i := range m.Layers {
		for _, to := range []struct {
			name string
			rows int
		}{{"q_proj", m.Dim}, {"v_proj", kv}} {
			name := fmt.Sprintf("base_model.model.model.layers.%d.self_attn.%s.lora_", i, to.name)
			ts = append(ts,
				m.matrix(name+"A.weight", LoRARank, m.Dim, 1/math.Sqrt(float64(m.Dim))),
				m.matrix(name+"B.weight", to.rows, LoRARank, 1/math.Sqrt(LoRARank)))
		}
	}
	w := bufio.NewWriter(f)
	return errors.Join(writeSafetensors(w, ts), w.Flush(), f.Close())
}
