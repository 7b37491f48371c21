// Package authhelpers says that Google's storage is not in this build.
package authhelpers

import (
	"context"
	"errors"

	"gocloud.dev/blob"
)

// GoogleCredentialsMux always fails.
func GoogleCredentialsMux(context.Context) (*blob.URLMux, error) {
	return nil, errors.New("the emulator's engine keeps its state in files only")
}
