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

// Pull pulls the image if the engine does not have it, and returns the image's digest. If the image comes
// from no registry, Pull returns the digest of the image's configuration instead. The registry's
// credentials come from Docker's configuration. Pull reports its progress to logf every ten seconds.
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
	done := map[string]int64{} // bytes downloaded, by layer
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

// A File is a file or a symbolic link in an image. Everybody may read and execute it.
type File struct {
	Name    string // path without a leading slash
	Content []byte
	Link    string // target of the link; "" means that File is a regular file
}

// Import creates an image that contains only the given files. A container of the image runs program.
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
