package cloud

import (
	"errors"

	"github.com/spf13/cobra"
)

// NewAPICmd says that Pulumi Cloud's API is not in this build.
func NewAPICmd() *cobra.Command {
	return &cobra.Command{
		Use:    "api",
		Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("the emulator's engine does not speak to Pulumi Cloud")
		},
	}
}

// ParamSpec is what the kept error messages read of an API's parameter.
type ParamSpec struct {
	Name string
	In   string
}
