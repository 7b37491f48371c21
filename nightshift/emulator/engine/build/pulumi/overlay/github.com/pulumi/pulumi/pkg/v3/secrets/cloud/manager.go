// Package cloud says that secrets managers of the clouds are not in this build.
package cloud

import (
	"encoding/json"
	"errors"

	"github.com/pulumi/pulumi/pkg/v3/secrets"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
)

// Type is the name under which the engine knows this kind of secrets manager.
const Type = "cloud"

var errLeftOut = errors.New("the emulator's engine has no cloud secrets manager: use a passphrase")

// NewCloudSecretsManager always fails.
func NewCloudSecretsManager(*workspace.ProjectStack, string, bool) (secrets.Manager, error) {
	return nil, errLeftOut
}

// NewCloudSecretsManagerFromState always fails.
func NewCloudSecretsManagerFromState(json.RawMessage) (secrets.Manager, error) {
	return nil, errLeftOut
}

// EditProjectStack always fails.
func EditProjectStack(*workspace.ProjectStack, json.RawMessage) error {
	return errLeftOut
}
