package tinygguf

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestWriteFolder checks that the weights of a folder have the shapes that its config.json gives, one after another up to
// the end of the file.
func TestWriteFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "model")
	if err := WriteFolder(dir, Options{Vocab: 520}); err != nil {
		t.Fatal(err)
	}
	header := shapes(t, filepath.Join(dir, "model.safetensors"))
	if got := header["model.layers.1.self_attn.k_proj.weight"]; len(got) != 2 || got[0] != 32 || got[1] != 64 {
		t.Errorf("k_proj of layer 1 has the shape %v, want [32 64]", got)
	}
	for _, name := range []string{"config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !json.Valid(text) {
			t.Errorf("%s: %v, or no JSON", name, err)
		}
	}
}

// shapes returns the shapes of the tensors in a file of safetensors. It checks that their values are one after another up to
// the end of the file.
func shapes(t *testing.T, file string) map[string][]int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	size := binary.LittleEndian.Uint64(text)
	var header map[string]struct {
		Shape   []int
		Offsets [2]int `json:"data_offsets"`
	}
	if err := json.Unmarshal(text[8:8+size], &header); err != nil {
		t.Fatal(err)
	}
	all, end := map[string][]int{}, 0
	for name, x := range header {
		n := 4
		for _, d := range x.Shape {
			n *= d
		}
		if name != "__metadata__" && x.Offsets[1]-x.Offsets[0] != n {
			t.Errorf("%s: shape %v and offsets %v", name, x.Shape, x.Offsets)
		}
		all[name], end = x.Shape, max(end, x.Offsets[1])
	}
	if data := len(text) - 8 - int(size); end != data {
		t.Errorf("the weights end at %d of %d bytes", end, data)
	}
	return all
}

// TestWriteLoRA checks that the weights of an adapter have the shapes that the model needs.
func TestWriteLoRA(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "adapter")
	if err := WriteLoRA(dir, Options{Vocab: 520}); err != nil {
		t.Fatal(err)
	}
	all := shapes(t, filepath.Join(dir, "adapter_model.safetensors"))
	for name, want := range map[string]string{"q_proj.lora_A": "[8 64]", "q_proj.lora_B": "[64 8]", "v_proj.lora_A": "[8 64]", "v_proj.lora_B": "[32 8]"} {
		if got := fmt.Sprint(all["base_model.model.model.layers.1.self_attn."+name+".weight"]); got != want {
			t.Errorf("%s of layer 1 has the shape %s, want %s", name, got, want)
		}
	}
	var config struct {
		R       int      `json:"r"`
		Modules []string `json:"target_modules"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "adapter_config.json"))
	if err == nil {
		err = json.Unmarshal(text, &config)
	}
	if err != nil || config.R != LoRARank || fmt.Sprint(config.Modules) != "[q_proj v_proj]" {
		t.Errorf("adapter_config.json: %v, %+v", err, config)
	}
}
