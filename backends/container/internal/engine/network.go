package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"os"
	"strconv"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// A Network is a private network for containers that reach each other by name. The caller must call Remove
// after its containers have been removed.
type Network struct {
	engine *Engine
	name   string
}

// CreateNetwork creates a network that no other process uses. It has the given labels in addition to LabelOwner and
// LabelProcess.
func (e *Engine) CreateNetwork(ctx context.Context, labels map[string]string) (*Network, error) {
	n := &Network{engine: e, name: "llmbench-" + strings.ToLower(rand.Text())}
	all := map[string]string{LabelOwner: e.owner.label(), LabelProcess: strconv.Itoa(os.Getpid())}
	maps.Copy(all, labels)
	_, err := e.client.NetworkCreate(ctx, n.name, client.NetworkCreateOptions{Driver: "bridge", Labels: all})
	if err != nil {
		return nil, err
	}
	return n, nil
}

// Name returns the network's name, for [Request].
func (n *Network) Name() string { return n.name }

// Remove removes the network.
func (n *Network) Remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
	defer cancel()
	_, err := n.engine.client.NetworkRemove(ctx, n.name, client.NetworkRemoveOptions{})
	return err
}

// removeNetworks removes the networks of processes that have ended. The containers of these processes must
// have been removed before.
func (o *owner) removeNetworks(ctx context.Context, cli client.APIClient) error {
	all, err := cli.NetworkList(ctx, client.NetworkListOptions{Filters: make(client.Filters).Add("label", LabelOwner)})
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range all.Items {
		if !o.hasEnded(n.Labels[LabelOwner]) {
			continue
		}
		_, err := cli.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{})
		if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) && !errdefs.IsPermissionDenied(err) { // another process is removing it, or its containers
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
