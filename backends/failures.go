package backends

import "github.com/seed-2b9cec6d/llmbench/backends/internal/launch"

// torchFailures are what servers that run on PyTorch log when they cannot start.
var torchFailures = []launch.Failure{
	{Log: `torch\.OutOfMemoryError|CUDA out of memory|HIP out of memory`, Advice: "the GPU's memory is too small for the model and its KV cache: use more GPUs, a quantized model or a shorter context"},
	{Log: `CUDA driver version is insufficient|no kernel image is available`, Advice: "the host's GPU driver is too old for this image, or the GPU is: update the driver or take an older image"},
	{Log: `is not a local folder and is not a valid model identifier`, Advice: "no such model on the Hugging Face Hub: check Model, or set ModelsDir"},
	{Log: `401 Client Error|403 Client Error|Cannot access gated repo|GatedRepoError`, Advice: "the model is gated: accept its licence on the Hugging Face Hub and set HF_TOKEN"},
	{Log: `We couldn't connect to 'https://huggingface\.co'|LocalEntryNotFoundError`, Advice: "the Hugging Face Hub cannot be reached: set ModelsDir to a folder with the model"},
}
