// Package azureblob says that Azure's storage is not in this build.
package azureblob

import (
	"context"
	"errors"
	"net/url"

	"gocloud.dev/blob"
)

// Scheme is the URL scheme of Azure's storage.
const Scheme = "azblob"

// ServiceURLOptions is empty here.
type ServiceURLOptions struct{}

// URLOpener opens nothing.
type URLOpener struct {
	MakeClient        func()
	ServiceURLOptions ServiceURLOptions
}

// OpenBucketURL always fails.
func (o *URLOpener) OpenBucketURL(context.Context, *url.URL) (*blob.Bucket, error) {
	return nil, errors.New("the emulator's engine keeps its state in files only")
}

// NewDefaultClient does nothing.
func NewDefaultClient() {}

// NewDefaultServiceURLOptions returns empty options.
func NewDefaultServiceURLOptions() *ServiceURLOptions {
	return &ServiceURLOptions{}
}
