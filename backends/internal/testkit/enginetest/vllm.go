package enginetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// prepareVLLM completes an installation of vLLM. The package for CPUs has another name than vllm, and vLLM asks for the
// version of a package of its own name, from which it also learns that it was built for CPUs.
func prepareVLLM(ctx context.Context, e Engine, dir string) error {
	version := e.Version + "+cpu"
	info := filepath.Join(sitePackages(dir), "vllm-"+version+".dist-info")
	return errors.Join(os.MkdirAll(info, 0o755),
		os.WriteFile(filepath.Join(info, "METADATA"), []byte("Metadata-Version: 2.1\nName: vllm\nVersion: "+version+"\n"), 0o644),
		standIns(ctx, e, dir))
}
