package engine

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// Pull pulls the image if the engine does not have it, and returns its digest: the
// registry's, or that of the image's configuration if the image is from no registry.
// The registry's credentials come from Docker's configuration. Every ten seconds
// Pull reports its progress to logf.
func (e *Engine) Pull(ctx context.Context, image string, logf func(string, ...any)) (digest string, err error) {
	digest, err = e.digest(ctx, image)
	if err == nil || !errdefs.IsNotFound(err) {
		return digest, err
	}
	logf("pulling the image %s", image)
	var options client.ImagePullOptions
	if _, auth, err := testcontainers.DockerImageAuth(ctx, image); err == nil {
		if options.RegistryAuth, err = authconfig.Encode(auth); err != nil {
			return "", fmt.Errorf("image %s: the registry's credentials: %w", image, err)
		}
	}
	pull, err := e.client.ImagePull(ctx, image, options)
	if err != nil {
		return "", fmt.Errorf("the image %s is not on this machine and cannot be pulled: %w", image, err)
	}
	defer pull.Close()
	began, reported := time.Now(), time.Now()
	done := map[string]int64{} // bytes of each layer
	for m, err := range pull.JSONMessages(ctx) {
		if err == nil && m.Error != nil {
			err = m.Error
		}
		if err != nil {
			return "", fmt.Errorf("the image %s is not on this machine and cannot be pulled: %w", image, err)
		}
		if m.Progress != nil && strings.HasPrefix(m.Status, "Downloading") {
			done[m.ID] = m.Progress.Current
		}
		if time.Since(reported) >= 10*time.Second {
			reported = time.Now()
			var sum int64
			for _, n := range done {
				sum += n
			}
			logf("pulling the image %s: %d MB after %v", image, sum>>20, time.Since(began).Round(time.Second))
		}
	}
	return e.digest(ctx, image)
}

// digest returns the digest of an image that the engine has.
func (e *Engine) digest(ctx context.Context, image string) (string, error) {
	i, err := e.client.ImageInspect(ctx, image)
	if err != nil {
		return "", err
	}
	for _, d := range i.RepoDigests {
		if _, sum, found := strings.Cut(d, "@"); found {
			return sum, nil
		}
	}
	return i.ID, nil
}

// Has reports whether the engine has the image.
func (e *Engine) Has(ctx context.Context, image string) bool {
	_, err := e.digest(ctx, image)
	return err == nil
}

// A File is a file of an image, which everybody may read and run, or a symbolic link.
type File struct {
	Name    string // path without a slash at its beginning
	Content []byte
	Link    string // what the link points to; "" makes it a file
}

// Import creates an image that contains the files and nothing else, and runs the
// program.
func (e *Engine) Import(ctx context.Context, image, program string, files []File) error {
	var root bytes.Buffer
	w := tar.NewWriter(&root)
	var errs []error
	for _, f := range files {
		h := &tar.Header{Name: f.Name, Linkname: f.Link, Mode: 0o755, Size: int64(len(f.Content)), Format: tar.FormatPAX}
		if f.Link != "" {
			h.Typeflag = tar.TypeSymlink
		}
		errs = append(errs, w.WriteHeader(h))
		_, err := w.Write(f.Content)
		errs = append(errs, err)
	}
	if err := errors.Join(append(errs, w.Close())...); err != nil {
		return fmt.Errorf("image %s: %w", image, err)
	}
	name, tag, _ := strings.Cut(image, ":")
	res, err := e.client.ImageImport(ctx, client.ImageImportSource{Source: &root, SourceName: "-"}, name, client.ImageImportOptions{
		Tag:     tag,
		Changes: []string{fmt.Sprintf("ENTRYPOINT [%q]", program), "LABEL llmbench.image=" + path.Base(program)},
	})
	if err != nil {
		return fmt.Errorf("image %s: %w", image, err)
	}
	defer res.Close()
	answer, err := io.ReadAll(res)
	if err == nil && bytes.Contains(answer, []byte(`"error"`)) {
		err = errors.New("the engine refuses it")
	}
	if err != nil {
		return fmt.Errorf("image %s: %w: %s", image, err, answer)
	}
	return nil
}
