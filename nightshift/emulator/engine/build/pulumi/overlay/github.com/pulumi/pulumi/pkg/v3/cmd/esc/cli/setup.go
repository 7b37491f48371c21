package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

func newEnvSetupCmd(*envCommand) *cobra.Command {
	return &cobra.Command{
		Use:    "setup",
		Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("the emulator's engine sets up no cloud accounts")
		},
	}
}
