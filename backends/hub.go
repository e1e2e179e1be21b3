package backends

import (
	"cmp"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
)

// This file applies the settings of a Container that select the files of a model, or that concern how its
// text is made (chat template, remote code). Not every server supports every one of these settings. Each
// method whose name begins with "with" applies one setting. If a setting is set and the server's Spec calls
// no method for it, Spec returns an error: no setting is ignored.

// commitID matches the id of a commit on the Hub.
var commitID = regexp.MustCompile(`^[0-9a-f]{40}$`)

// withRevision appends each of the flags with the model's revision as its value.
func (b *builder) withRevision(flags ...string) {
	for _, flag := range flags {
		b.textOption(flag, b.revision())
	}
}

// revision returns the revision to download, or "".
func (b *builder) revision() string {
	b.taken = append(b.taken, "Revision")
	r := b.from.Revision
	switch {
	case r == "":
		return ""
	case b.from.ModelsDir != "":
		b.invalid("Revision", "%q: want none with ModelsDir, whose files are served as they are", r)
	case strings.HasPrefix(r, "-") || strings.ContainsAny(r, " \t\n\\:") || strings.Contains(r, ".."):
		b.invalid("Revision", "%q: want a branch, a tag or a commit on the Hugging Face Hub", r)
	}
	b.Config["model-revision"] = r
	return r
}

// commitIn records where the model's commit can be read after the server has downloaded the model. hub is
// the folder of the Hub's cache in the container
// (https://huggingface.co/docs/huggingface_hub/guides/manage-cache).
func (b *builder) commitIn(hub string) {
	switch r := b.from.Revision; {
	case b.from.ModelsDir != "" || b.from.Model == "":
	case commitID.MatchString(r):
		b.Config["model-commit"] = r
	default:
		r = cmp.Or(r, "main")
		b.CommitFile = path.Join(hub, "models--"+strings.ReplaceAll(b.from.Model, "/", "--"), "refs", r)
	}
}

// templateAt is the path of ChatTemplate in the container.
const templateAt = "/llmbench/chat-template.jinja"

// withChatTemplate mounts the file with the chat template, and passes its path to the server by the option
// flag.
func (b *builder) withChatTemplate(flag string) {
	b.taken = append(b.taken, "ChatTemplate")
	if b.from.ChatTemplate == "" {
		return
	}
	b.ChatTemplate = b.from.ChatTemplate
	b.Mounts = append(b.Mounts, launch.Mount{Source: b.from.ChatTemplate, Target: templateAt, ReadOnly: true})
	b.Config["chat-template"] = filepath.Base(b.from.ChatTemplate)
	b.args(flag, templateAt)
}

// withTrustRemoteCode appends the option that lets the server run a model's code.
func (b *builder) withTrustRemoteCode(flag string) {
	b.taken = append(b.taken, "TrustRemoteCode")
	b.switchOption(flag, b.from.TrustRemoteCode)
}

// withTrustRemoteCodeVariable sets the environment variable that decides whether the server runs a model's
// code. The variable is set even if the setting is off, because some versions of the server default to on.
func (b *builder) withTrustRemoteCodeVariable(name string) {
	b.taken = append(b.taken, "TrustRemoteCode")
	b.Env[name] = strconv.FormatBool(b.from.TrustRemoteCode)
}

// withOffline sets the environment variable that stops the Hub's library from using the network
// (https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables#hfhuboffline).
func (b *builder) withOffline() {
	b.taken = append(b.taken, "Offline")
	if b.from.Offline {
		b.Env["HF_HUB_OFFLINE"] = "1"
	}
}

// offlineInFolder is for a server that contacts the Hub at every start unless the model is in a folder.
// Offline then needs ModelsDir.
func (b *builder) offlineInFolder() {
	b.taken = append(b.taken, "Offline")
	if b.from.Offline && b.from.ModelsDir == "" {
		b.invalid("Offline", "true: want ModelsDir with it, because this server asks the Hub at every start for a model that is not in a folder")
	}
}

// withOfflineOption appends the option that stops a server from using the network. It is for servers that
// do not use the Hub's library.
func (b *builder) withOfflineOption(flag string) {
	b.taken = append(b.taken, "Offline")
	b.switchOption(flag, b.from.Offline)
}

// withHub applies all settings of a server that downloads models with the Hub's library. The server keeps
// the library's cache in volume, mounted at target. The other arguments are the server's options for a
// revision, a chat template, and code that comes with the model; "" means that it has none.
func (b *builder) withHub(volume, target, revision, chatTemplate, trustRemoteCode string) {
	b.downloadTo(volume, target)
	b.commitIn(path.Join(target, "hub"))
	b.withOffline()
	if revision != "" {
		b.withRevision(revision)
	}
	if chatTemplate != "" {
		b.withChatTemplate(chatTemplate)
	}
	if trustRemoteCode != "" {
		b.withTrustRemoteCode(trustRemoteCode)
	}
}

// checkTaken records an error for each setting that is set and that the server does not support.
func (b *builder) checkTaken() {
	for _, field := range []string{"Revision", "ChatTemplate", "TrustRemoteCode", "Offline"} {
		v := reflect.ValueOf(b.from).FieldByName(field)
		if !v.IsZero() && !slices.Contains(b.taken, field) {
			b.invalid(field, "%#v: want none, because this server has no such setting", v)
		}
	}
}

// torchFailures are log lines of servers that run on PyTorch and fetch models from the Hub, when they
// cannot start.
var torchFailures = []launch.Failure{
	{Log: `torch\.OutOfMemoryError|CUDA out of memory|HIP out of memory`, Advice: "the GPU's memory is too small for the model and its KV cache: use more GPUs, a quantized model or a shorter context"},
	{Log: `CUDA driver version is insufficient|NVIDIA driver on your system is too old`, Advice: "the host's GPU driver is too old for this image: an image for CUDA 13 needs driver 580 or newer; update the driver, or take an image for CUDA 12, such as the tags of vLLM and SGLang that end in -cu129"},
	{Log: `no kernel image is available`, Advice: "the image is not built for this GPU, which may be too old: take an older image"},
	{Log: `is not a local folder and is not a valid model identifier`, Advice: "no such model on the Hugging Face Hub: check Model, or set ModelsDir"},
	{Log: `is not a valid git identifier|Revision Not Found for url`, Advice: "the model has no such revision on the Hugging Face Hub: check Revision"},
	{Log: `401 Client Error|403 Client Error|access(?:ing)? (?:a )?gated repo|GatedRepoError`, Advice: "the model is gated: accept its licence on the Hugging Face Hub and set HF_TOKEN"},
	{Log: `We couldn't connect to 'https://huggingface\.co'|LocalEntryNotFoundError`, Advice: "the model is not in the cache, and the Hugging Face Hub was not asked or cannot be reached: switch Offline off, or set ModelsDir to a folder with the model"},
	{Log: `\x60trust_remote_code=True\x60`, Advice: "the model has code of its own: set TrustRemoteCode if you trust it"},
}
