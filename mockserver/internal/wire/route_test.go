package wire

import "testing"

func TestFlavorOf(t *testing.T) {
	for body, want := range map[string]Flavor{
		`{"inputs":"a"}`:                             FlavorTGI,
		`{"text":"a"}`:                               FlavorSGLang,
		`{"input_ids":[1],"sampling_params":{}}`:     FlavorSGLang,
		`{"input_ids":[1],"max_tokens":3}`:           FlavorLMDeploy,
		`{"prompt":"a"}`:                             FlavorLMDeploy,
		`{"prompt":"a","inputs":null,"text":"both"}`: FlavorSGLang,
		`{}`: FlavorSGLang,
		`[`:  FlavorSGLang,
	} {
		if got := flavorOf([]byte(body)); got != want {
			t.Errorf("flavorOf(%s) = %s, want %s", body, got, want)
		}
	}
}
